(** A tree of boxes whose leaves and slabs cover the simplex, in integers (docs/theory.md, steps 7 and 8).

    Places and rates are integers over [one], values and the threshold over [one]^2. *)

From Coq Require Import Reals Lra Lia List ZArith Bool.
From Alphalift Require Import Sums Entropy.
Import ListNotations.
Open Scope R_scope.

(** A leaf names its dual. A split at V_x = place has the part below and the part above. A trim cuts slabs off, V_x >=
    place (true) or V_x <= place (false), which its dual closes, and goes on with the rest. *)
Inductive tree :=
| Leaf (dual : nat)
| Split (x : nat) (place : Z) (below above : tree)
| Trim (dual : nat) (slabs : list (nat * bool * Z)) (rest : tree).

Definition at_place (l : list Z) (x : nat) : Z := nth x l 0%Z.

(** The list with another entry at x. *)
Fixpoint set (x : nat) (v : Z) (l : list Z) : list Z :=
  match l, x with
  | [], _ => []
  | _ :: l', O => v :: l'
  | a :: l', S x' => a :: set x' v l'
  end.

Section Program.
Variables (one threshold : Z) (curve : Z -> Z) (dual : nat -> option (Z * list Z)).

Open Scope Z_scope.

(** The lesser end of a concave q(v) = curve(v) - c v. *)
Definition lesser (c a b : Z) : Z := Z.min (curve a - c * a) (curve b - c * b).

Fixpoint lessers (rates low high : list Z) : list Z :=
  match rates, low, high with
  | c :: rates', a :: low', b :: high' => lesser c a b :: lessers rates' low' high'
  | _, _, _ => []
  end.

(** Upper ends, none above what the others' lower ends leave of 1. *)
Definition closed (low high : list Z) : list Z :=
  let unfilled := Z.max (one - zsum low) 0 in
  map2 (fun a b => Z.min b (a + unfilled)) low high.

Fixpoint crossed (low high : list Z) : bool :=
  match low, high with
  | a :: low', b :: high' => (b <? a) || crossed low' high'
  | _, _ => false
  end.

(** Whether a box plainly holds no distribution. *)
Definition empty (low high : list Z) : bool :=
  (one <? zsum low) || (zsum high <? one) || crossed low high.

(** Whether a slab of a box reaches the threshold; [whole] is the bound of the box, with these terms. *)
Definition slab_holds (low high rates terms : list Z) (whole least most : Z) (slab : nat * bool * Z) : bool :=
  let '(x, is_above, place) := slab in
  let a := if is_above then Z.max place (at_place low x) else at_place low x in
  let b := if is_above then at_place high x else Z.min place (at_place high x) in
  (x <? length low)%nat &&
  ((b <? a) || (one <? least - at_place low x + a) || (most - at_place high x + b <? one) ||
   (threshold <=? whole - at_place terms x + lesser (at_place rates x) a b)).

(** The box without a slab. *)
Definition cut (box : list Z * list Z) (slab : nat * bool * Z) : list Z * list Z :=
  let '(low, high) := box in
  let '(x, is_above, place) := slab in
  if is_above then (low, set x (Z.min place (at_place high x)) high)
  else (set x (Z.max place (at_place low x)) low, high).

(** Whether every leaf and slab below a node reaches the threshold. *)
Fixpoint holds (t : tree) (low high : list Z) : bool :=
  let high := closed low high in
  empty low high ||
  match t with
  | Leaf d =>
      match dual d with
      | None => false
      | Some (constant, rates) => threshold <=? constant + zsum (lessers rates low high)
      end
  | Split x place below above =>
      (x <? length low)%nat &&
      holds below low (set x (Z.min place (at_place high x)) high) &&
      holds above (set x (Z.max place (at_place low x)) low) high
  | Trim d slabs rest =>
      match dual d with
      | None => false
      | Some (constant, rates) =>
          let terms := lessers rates low high in
          let whole := constant + zsum terms in
          let least := zsum low in
          let most := zsum high in
          forallb (slab_holds low high rates terms whole least most) slabs &&
          (let box := fold_left cut slabs (low, high) in holds rest (fst box) (snd box))
      end
  end.

End Program.

Lemma set_length x v l : length (set x v l) = length l.
Proof. revert x; induction l; destruct x; simpl; auto. Qed.

Lemma set_nth x v l i :
  (x < length l)%nat -> at_place (set x v l) i = if Nat.eqb i x then v else at_place l i.
Proof.
  unfold at_place. revert x i; induction l as [|a l IH]; simpl; intros x i inside; [lia|].
  destruct x, i; simpl; try reflexivity. apply IH. lia.
Qed.

(** What [holds] proves. *)
Section Soundness.
Variables (n : nat) (one threshold : Z) (curve : Z -> Z) (dual : nat -> option (Z * list Z)).
Variables (F : (nat -> R) -> Prop) (value : (nat -> R) -> R).

Let unit := IZR one.

Hypothesis one_pos : (0 < one)%Z.
Hypothesis F_posteriors : forall V, F V -> (forall x, (x < n)%nat -> 0 <= V x) /\ sum n V = 1.
Hypothesis curve_below : forall a, (0 <= a)%Z -> IZR (curve a) <= phi (IZR a / unit) * unit ^ 2.
Hypothesis dual_bounds : forall d constant rates, dual d = Some (constant, rates) ->
  length rates = n /\
  forall V t, F V ->
    (forall x, (x < n)%nat -> t x <= phi (V x) * unit ^ 2 - IZR (at_place rates x) * (V x * unit)) ->
    IZR constant + sum n t <= value V.

(** V is between the ends of a box, which are not negative. *)
Definition inside (V : nat -> R) (low high : list Z) : Prop :=
  length low = n /\ length high = n /\
  forall x, (x < n)%nat -> (0 <= at_place low x)%Z /\ IZR (at_place low x) <= V x * unit <= IZR (at_place high x).

Lemma unit_pos : 0 < unit.
Proof. now apply IZR_lt. Qed.

Lemma total_unit V : F V -> sum n (fun x => V x * unit) = unit.
Proof. intros V_in. rewrite sum_scale_r. destruct (F_posteriors V V_in) as [_ ->]. lra. Qed.

Lemma zsum_n l : length l = n -> IZR (zsum l) = sum n (fun x => IZR (at_place l x)).
Proof. intros <-. apply zsum_sum. Qed.

Lemma lesser_below c a b v :
  (0 <= a)%Z -> IZR a <= v * unit <= IZR b ->
  IZR (lesser curve c a b) <= phi v * unit ^ 2 - IZR c * (v * unit).
Proof.
  intros a_nonneg [above below]. pose proof unit_pos.
  assert (b_nonneg : (0 <= b)%Z) by (apply IZR_le in a_nonneg; apply le_IZR; lra).
  pose proof (curve_below a a_nonneg) as at_a. pose proof (curve_below b b_nonneg) as at_b.
  apply IZR_le in a_nonneg.
  assert (ends : 0 <= IZR a / unit <= v /\ v <= IZR b / unit).
  { repeat split.
    - apply Rmult_le_pos; [assumption | now apply Rlt_le, Rinv_0_lt_compat].
    - apply (Rmult_le_reg_r unit); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
    - apply (Rmult_le_reg_r unit); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  destruct ends as [left right].
  pose proof (least_at_an_end _ _ _ (IZR c / unit) left right) as least.
  apply (Rmult_le_compat_r (unit ^ 2)) in least; [|nra].
  replace ((phi v - IZR c / unit * v) * unit ^ 2) with (phi v * unit ^ 2 - IZR c * (v * unit)) in least
    by (field; lra).
  assert (scaled : forall p, (phi (IZR p / unit) - IZR c / unit * (IZR p / unit)) * unit ^ 2 =
                             phi (IZR p / unit) * unit ^ 2 - IZR c * IZR p) by (intros; field; lra).
  eapply Rle_trans; [|exact least]. unfold lesser, Rmin.
  destruct (Rle_dec _ _); rewrite scaled.
  - eapply Rle_trans; [apply IZR_le, Z.le_min_l|]. rewrite minus_IZR, mult_IZR. lra.
  - eapply Rle_trans; [apply IZR_le, Z.le_min_r|]. rewrite minus_IZR, mult_IZR. lra.
Qed.

Lemma lessers_are rates low high :
  length rates = length low -> length high = length low ->
  length (lessers curve rates low high) = length low /\
  forall x, (x < length low)%nat ->
    at_place (lessers curve rates low high) x =
    lesser curve (at_place rates x) (at_place low x) (at_place high x).
Proof.
  unfold at_place. revert low high. induction rates as [|c rates IH]; intros [|a low] [|b high]; simpl; intros;
    try discriminate; [split; [reflexivity | lia]|].
  destruct (IH low high) as [same each]; try lia. split; [lia|].
  intros [|x] x_in; [reflexivity | apply each; lia].
Qed.

Lemma above_min r a b : r <= IZR a -> r <= IZR b -> r <= IZR (Z.min a b).
Proof. intros. apply Z.min_case; assumption. Qed.

Lemma below_max r a b : IZR a <= r -> IZR b <= r -> IZR (Z.max a b) <= r.
Proof. intros. apply Z.max_case; assumption. Qed.

(** Closing a box loses no distribution: V_x = 1 - the others <= 1 - sum low + low_x. *)
Lemma closed_keeps V low high : F V -> inside V low high -> inside V low (closed one low high).
Proof.
  intros V_in (low_n & high_n & ends). unfold closed.
  repeat split; try assumption; try now apply ends.
  - rewrite map2_length; lia.
  - unfold at_place at 1. rewrite (map2_nth _ _ _ _ 0%Z 0%Z) by lia. fold (at_place low x) (at_place high x).
    apply above_min; [now apply ends|]. rewrite plus_IZR.
    enough (V x * unit - IZR (at_place low x) <= IZR (one - zsum low)) as rest.
    { assert (IZR (one - zsum low) <= IZR (Z.max (one - zsum low) 0)) by (apply IZR_le; lia). lra. }
    rewrite minus_IZR, zsum_n by assumption. fold unit. pose proof (total_unit V V_in) as total.
    enough (V x * unit - IZR (at_place low x) <= sum n (fun i => V i * unit - IZR (at_place low i))) as part
      by (rewrite sum_minus in part; lra).
    apply (sum_term n (fun i => V i * unit - IZR (at_place low i))); [assumption|].
    intros j j_in. destruct (ends j j_in) as [_ [above _]]. lra.
Qed.

Lemma not_empty V low high : F V -> inside V low high -> empty one low high = false.
Proof.
  intros V_in (low_n & high_n & ends). unfold empty.
  assert (below : (zsum low <= one)%Z).
  { apply le_IZR. rewrite zsum_n by assumption. fold unit. rewrite <- (total_unit V V_in).
    apply sum_le. intros; now apply ends. }
  assert (above : (one <= zsum high)%Z).
  { apply le_IZR. rewrite zsum_n by assumption. fold unit. rewrite <- (total_unit V V_in).
    apply sum_le. intros; now apply ends. }
  destruct (Z.ltb_spec one (zsum low)); [lia|]. destruct (Z.ltb_spec (zsum high) one); [lia|]. simpl.
  assert (order : forall x, (x < n)%nat -> (at_place low x <= at_place high x)%Z).
  { intros x x_in. apply le_IZR. destruct (ends x x_in) as [_ ?]. lra. }
  clear - low_n high_n order. unfold at_place in order. revert high n low_n high_n order.
  induction low as [|a low IH]; intros [|b high] m low_n high_n order; simpl; try reflexivity.
  destruct m as [|m]; [discriminate|].
  destruct (Z.ltb_spec b a) as [crossed_here|_].
  - specialize (order 0%nat ltac:(lia)). simpl in order. lia.
  - simpl. apply (IH high m); simpl in *; try lia. intros x x_in. apply (order (S x)). lia.
Qed.

Lemma terms_below V low high rates :
  inside V low high -> length rates = n ->
  forall x, (x < n)%nat -> IZR (at_place (lessers curve rates low high) x) <=
    phi (V x) * unit ^ 2 - IZR (at_place rates x) * (V x * unit).
Proof.
  intros (low_n & high_n & ends) rates_n x x_in.
  destruct (lessers_are rates low high) as [_ each]; try lia. rewrite each by lia.
  apply lesser_below; now apply ends.
Qed.

Lemma reached a b : (threshold <=? a)%Z = true -> IZR a <= b -> IZR threshold <= b.
Proof. intros above below. apply Z.leb_le, IZR_le in above. lra. Qed.

(** A part of a box with another lower or upper end for one symbol. *)
Lemma inside_below V low high x place :
  inside V low high -> V x * unit <= IZR place ->
  (x < n)%nat -> inside V low (set x (Z.min place (at_place high x)) high).
Proof.
  intros (low_n & high_n & ends) below x_in.
  repeat split; try (now apply ends); try assumption; [now rewrite set_length|].
  rewrite set_nth by lia. destruct (Nat.eqb_spec x0 x) as [->|_]; [|now apply ends].
  apply above_min; [assumption | now apply ends].
Qed.

Lemma inside_above V low high x place :
  inside V low high -> IZR place <= V x * unit ->
  (x < n)%nat -> inside V (set x (Z.max place (at_place low x)) low) high.
Proof.
  intros (low_n & high_n & ends) above x_in.
  repeat split; try (now apply ends); try assumption; [now rewrite set_length| |].
  - rewrite set_nth by lia. destruct (Nat.eqb_spec x0 x) as [->|_]; [|now apply ends].
    pose proof (proj1 (ends x x_in)). lia.
  - rewrite set_nth by lia. destruct (Nat.eqb_spec x0 x) as [->|_]; [|now apply ends].
    apply below_max; [assumption | now apply ends].
Qed.

(** V is in a slab. *)
Definition in_slab (V : nat -> R) (slab : nat * bool * Z) : Prop :=
  let '(x, is_above, place) := slab in
  if is_above then IZR place <= V x * unit else V x * unit <= IZR place.

(** A slab is a box that differs from the whole one in one end: with the same dual its bound differs in one term. *)
Lemma slab_sound V low high d constant rates slab :
  F V -> inside V low high -> dual d = Some (constant, rates) ->
  slab_holds one threshold curve low high rates (lessers curve rates low high)
    (constant + zsum (lessers curve rates low high)) (zsum low) (zsum high) slab = true ->
  in_slab V slab -> IZR threshold <= value V.
Proof.
  destruct slab as [[x is_above] place]. simpl. intros V_in box is_dual slab_ok V_slab.
  apply andb_true_iff in slab_ok as [x_low slab_ok]. apply Nat.ltb_lt in x_low.
  destruct (dual_bounds d _ _ is_dual) as [rates_n bound].
  pose proof (terms_below V low high rates box rates_n) as terms.
  pose proof box as (low_n & high_n & ends). assert (x_in : (x < n)%nat) by lia.
  destruct (lessers_are rates low high) as [terms_n _]; try lia.
  set (a := if is_above then Z.max place (at_place low x) else at_place low x) in *.
  set (b := if is_above then at_place high x else Z.min place (at_place high x)) in *.
  assert (between : (0 <= a)%Z /\ IZR a <= V x * unit <= IZR b).
  { destruct (ends x x_in) as [low_nonneg [V_above V_below]]. unfold a, b.
    destruct is_above; (split; [lia|split]); try assumption.
    - now apply below_max. - now apply above_min. }
  destruct between as [a_nonneg between].
  assert (order : (a <= b)%Z) by (apply le_IZR; lra).
  pose proof (total_unit V V_in) as total.
  assert (rest : forall l v, length l = n ->
    IZR (zsum l - at_place l x + v) = sum n (fun j => if Nat.eqb j x then IZR v else IZR (at_place l j))).
  { intros l v l_n. rewrite plus_IZR, minus_IZR, zsum_n by assumption.
    now rewrite (sum_replace n (fun j => IZR (at_place l j))). }
  assert (least : (zsum low - at_place low x + a <= one)%Z).
  { apply le_IZR. rewrite rest by assumption. fold unit. rewrite <- total. apply sum_le. intros j j_in.
    destruct (Nat.eqb_spec j x) as [->|_]; [apply between | now apply ends]. }
  assert (most : (one <= zsum high - at_place high x + b)%Z).
  { apply le_IZR. rewrite rest by assumption. fold unit. rewrite <- total. apply sum_le. intros j j_in.
    destruct (Nat.eqb_spec j x) as [->|_]; [apply between | now apply ends]. }
  destruct (Z.ltb_spec b a); [lia|].
  destruct (Z.ltb_spec one (zsum low - at_place low x + a)); [lia|].
  destruct (Z.ltb_spec (zsum high - at_place high x + b) one); [lia|]. simpl in slab_ok.
  eapply reached; [exact slab_ok|].
  set (t := fun j => if Nat.eqb j x then IZR (lesser curve (at_place rates x) a b)
                     else IZR (at_place (lessers curve rates low high) j)).
  replace (IZR (constant + zsum (lessers curve rates low high) - at_place (lessers curve rates low high) x +
    lesser curve (at_place rates x) a b)) with (IZR constant + sum n t).
  - apply bound; [assumption|]. intros j j_in. unfold t. destruct (Nat.eqb_spec j x) as [->|_]; [|now apply terms].
    now apply lesser_below.
  - unfold t. rewrite (sum_replace n (fun j => IZR (at_place (lessers curve rates low high) j))) by assumption.
    rewrite <- zsum_n by lia. rewrite !plus_IZR, minus_IZR, plus_IZR. lra.
Qed.

(** A V of the box is in one of the slabs or in the rest. *)
Lemma cut_covers V slabs low high :
  inside V low high -> Forall (fun slab => (fst (fst slab) < n)%nat) slabs ->
  Exists (in_slab V) slabs \/
  inside V (fst (fold_left cut slabs (low, high))) (snd (fold_left cut slabs (low, high))).
Proof.
  revert low high. induction slabs as [|[[x is_above] place] slabs IH]; intros low high box symbols; [now right|].
  apply Forall_cons_iff in symbols as [x_in symbols]. simpl in x_in.
  cbn [fold_left cut].
  assert (outside : in_slab V (x, is_above, place) \/
    let box := cut (low, high) (x, is_above, place) in inside V (fst box) (snd box)).
  { simpl. destruct is_above; simpl.
    - destruct (Rle_lt_dec (IZR place) (V x * unit)); [now left|right]. apply inside_below; auto; lra.
    - destruct (Rle_lt_dec (V x * unit) (IZR place)); [now left|right]. apply inside_above; auto; lra. }
  destruct outside as [here|further]; [left; now constructor|].
  cbv zeta in further. destruct is_above; simpl in further;
    (destruct (IH _ _ further symbols) as [later|]; [left; now constructor 2 | now right]).
Qed.

(** Step 8: if every leaf and slab reaches the threshold, so does every posterior of F in the first box. *)
Theorem holds_sound t : forall low high V,
  holds one threshold curve dual t low high = true -> F V -> inside V low high -> IZR threshold <= value V.
Proof.
  induction t as [d | x place below IHbelow above IHabove | d slabs rest IHrest];
    intros low high V ok V_in box; cbn [holds] in ok; cbv zeta in ok;
    apply (closed_keeps V low high V_in) in box; set (high' := closed one low high) in *; clearbody high';
    rewrite (not_empty V low high' V_in box) in ok; cbn [orb] in ok;
    pose proof box as (low_n & high_n & _).
  - destruct (dual d) as [[constant rates]|] eqn:is_dual; [|discriminate].
    destruct (dual_bounds d _ _ is_dual) as [rates_n bound].
    eapply reached; [exact ok|]. rewrite plus_IZR, zsum_n.
    + apply bound; [assumption|]. now apply terms_below.
    + destruct (lessers_are rates low high'); lia.
  - apply andb_true_iff in ok as [ok ok_above]. apply andb_true_iff in ok as [x_low ok_below].
    apply Nat.ltb_lt in x_low.
    destruct (Rle_lt_dec (V x * unit) (IZR place)).
    + eapply IHbelow; [exact ok_below | assumption |]. apply inside_below; auto; lia.
    + eapply IHabove; [exact ok_above | assumption |]. apply inside_above; auto; [lra | lia].
  - destruct (dual d) as [[constant rates]|] eqn:is_dual; [|discriminate].
    apply andb_true_iff in ok as [slabs_ok rest_ok]. rewrite forallb_forall in slabs_ok.
    destruct (cut_covers V slabs low high' box) as [here|further].
    + apply Forall_forall. intros [[x is_above] place] member. specialize (slabs_ok _ member). simpl in *.
      apply andb_true_iff in slabs_ok as [x_low _]. apply Nat.ltb_lt in x_low. lia.
    + apply Exists_exists in here as (slab & member & V_slab).
      eapply slab_sound; eauto.
    + eapply IHrest; eauto.
Qed.

End Soundness.
