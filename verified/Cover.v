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
          (let '(left, right) := fold_left cut slabs (low, high) in holds rest left right)
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

Lemma closed_keeps V low high : F V -> inside V low high -> inside V low (closed one low high).
Proof.
  intros V_in (low_n & high_n & ends). unfold closed.
  repeat split; try assumption.
  - now rewrite map2_length; lia.
  - now apply ends.
  - now apply ends.
  - unfold at_place at 1. rewrite (map2_nth _ _ _ _ 0%Z 0%Z) by lia. fold (at_place low x) (at_place high x).
    apply IZR_le with (m := at_place high x) in H || idtac.
    rewrite min_IZR, plus_IZR || idtac.
Abort.

End Soundness.
