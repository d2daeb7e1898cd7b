(** From integers to distributions: what the counts and weights of a file mean (docs/theory.md, step 1). *)

From Coq Require Import Reals Lra Lia List ZArith Bool.
From Alphalift Require Import Sums Problem Duality Arithmetic Cover Checker Meaning.
Import ListNotations.
Open Scope R_scope.

Lemma zsum_is n l : length l = n -> IZR (zsum l) = sum n (fun x => IZR (nth x l 0%Z)).
Proof. intros <-. apply zsum_sum. Qed.

Lemma dot_is n l m :
  length l = n -> length m = n -> IZR (dot l m) = sum n (fun x => IZR (nth x l 0%Z) * IZR (nth x m 0%Z)).
Proof.
  intros l_n m_n. unfold dot. rewrite (zsum_is n) by (now rewrite map2_length; lia).
  apply sum_ext. intros x x_in. rewrite (map2_nth _ _ _ _ 0%Z 0%Z) by lia. now rewrite mult_IZR.
Qed.

Lemma repeat_nth n x : nth x (repeat 0%Z n) 0%Z = 0%Z.
Proof. revert x. induction n; destruct x; simpl; auto. Qed.

(** Sums of columns. *)
Lemma added_length n table :
  Forall (fun row => length row = n) table -> length (fold_right (map2 Z.add) (repeat 0%Z n) table) = n.
Proof.
  induction 1 as [|row table row_n _ IH]; simpl; [apply repeat_length|]. rewrite map2_length; lia.
Qed.

Lemma added_nth n table x :
  Forall (fun row => length row = n) table -> (x < n)%nat ->
  IZR (nth x (fold_right (map2 Z.add) (repeat 0%Z n) table) 0%Z) =
  sum (length table) (fun s => IZR (entry table s x)).
Proof.
  intros rows_n x_in. induction rows_n as [|row table row_n rows_n IH].
  - simpl. now rewrite repeat_nth.
  - cbn [fold_right length]. rewrite sum_first. pose proof (added_length n table rows_n).
    rewrite (map2_nth _ _ _ _ 0%Z 0%Z) by lia. rewrite plus_IZR. rewrite IH. reflexivity.
Qed.

(** Integers over [one], as real numbers. *)
Definition real (one : Z) (w : list Z) (s : nat) : R := IZR (nth s w 0%Z) / IZR one.

Lemma two_pos k : 0 < IZR (two k).
Proof. apply IZR_lt. apply Z.pow_pos_nonneg; lia. Qed.

Lemma dense_length n row : length (dense n row) = n.
Proof. unfold dense. now rewrite map_length, seq_length. Qed.

Lemma dense_nth n row x : (x < n)%nat -> nth x (dense n row) 0%Z = weight row x.
Proof.
  intros x_in. unfold dense. rewrite (nth_indep _ 0%Z (weight row 0)) by (rewrite map_length, seq_length; lia).
  rewrite map_nth, seq_nth by assumption. reflexivity.
Qed.

Lemma rising_weight least n row x : rising least n row = true -> (0 <= weight row x)%Z.
Proof.
  revert least. induction row as [|[x' w] row IH]; intros least; cbn [rising weight]; [lia|].
  intros ok. apply andb_true_iff in ok as [ok rest]. apply andb_true_iff in ok as [_ above].
  apply Z.ltb_lt in above. destruct (Nat.eqb x x'); [lia | eauto].
Qed.

Section File.
Variable f : file.
Hypothesis formed : well_formed f = true.

Let n := size f.
Let J := joint_of f.
Let W := mechanism_of f.
Let N := IZR (everybody f).
Let unit := IZR (two (bits f)).

Lemma formed_parts :
  (0 < n)%nat /\
  (forall row, In row (counts f) -> length row = n /\ Forall (Z.le 0) row /\ (0 < zsum row)%Z) /\
  (forall x, (x < n)%nat -> (0 < nth x (columns f) 0)%Z) /\
  (forall row, In row (weights f) -> rising 0 n row = true) /\
  (forall x, (x < n)%nat -> nth x (fold_right (map2 Z.add) (repeat 0%Z n) (rows f)) 0%Z = two (bits f)).
Proof.
  pose proof formed as ok. unfold well_formed in ok. fold n in ok. repeat rewrite andb_true_iff in ok.
  destruct ok as ((((some & tables) & all) & rise) & sums).
  assert (rows_n : Forall (fun row => length row = n) (rows f)).
  { apply Forall_forall. intros row member. apply in_map_iff in member as (sparse & <- & _). apply dense_length. }
  rewrite forallb_forall in tables, all, rise, sums.
  assert (tables' : forall row, In row (counts f) -> length row = n /\ Forall (Z.le 0) row /\ (0 < zsum row)%Z).
  { intros row member. specialize (tables row member). repeat rewrite andb_true_iff in tables.
    destruct tables as ((row_n & signs) & above). apply Nat.eqb_eq in row_n. apply Z.ltb_lt in above.
    repeat split; try assumption. apply Forall_forall. intros z z_in. rewrite forallb_forall in signs.
    specialize (signs z z_in). now apply Z.leb_le. }
  assert (counts_n : Forall (fun row => length row = n) (counts f)).
  { apply Forall_forall. intros row member. now destruct (tables' row member). }
  repeat split; try apply tables'; auto.
  - now apply Nat.ltb_lt.
  - intros x x_in. apply Z.ltb_lt, all, nth_In. unfold columns. fold n. now rewrite added_length.
  - intros x x_in. symmetry. apply Z.eqb_eq, sums, nth_In. now rewrite added_length.
Qed.

Lemma counts_n : Forall (fun row => length row = n) (counts f).
Proof. apply Forall_forall. intros row member. now apply formed_parts. Qed.

Lemma rows_n : Forall (fun row => length row = n) (rows f).
Proof.
  apply Forall_forall. intros row member. apply in_map_iff in member as (sparse & <- & _). apply dense_length.
Qed.

Lemma columns_n : length (columns f) = n.
Proof. apply added_length, counts_n. Qed.

Lemma column_pos x : (x < n)%nat -> 0 < IZR (nth x (columns f) 0%Z).
Proof. intros x_in. apply IZR_lt. now apply formed_parts. Qed.

Lemma column_is x :
  (x < n)%nat -> IZR (nth x (columns f) 0%Z) = sum (length (counts f)) (fun s => IZR (entry (counts f) s x)).
Proof. intros x_in. apply added_nth; [apply counts_n | assumption]. Qed.

Lemma N_is : N = sum n (fun x => IZR (nth x (columns f) 0%Z)).
Proof. apply zsum_is, columns_n. Qed.

Lemma N_pos : 0 < N.
Proof.
  rewrite N_is. destruct formed_parts as (some & _).
  apply (sum_pos n _ 0%nat some); [intros; now apply Rlt_le, column_pos | now apply column_pos].
Qed.

Lemma unit_pos : 0 < unit.
Proof. apply two_pos. Qed.

Lemma entry_nonneg s x : (s < length (counts f))%nat -> (x < n)%nat -> 0 <= IZR (entry (counts f) s x).
Proof.
  intros s_in x_in. apply IZR_le. unfold entry.
  assert (member : In (nth s (counts f) []) (counts f)) by now apply nth_In.
  destruct formed_parts as (_ & tables & _). destruct (tables _ member) as (row_n & signs & _).
  rewrite Forall_forall in signs. apply signs, nth_In. lia.
Qed.

Lemma prior_is s : (s < length (counts f))%nat ->
  IZR (zsum (nth s (counts f) [])) = sum n (fun x => IZR (entry (counts f) s x)).
Proof. intros s_in. apply zsum_is. now apply formed_parts, nth_In. Qed.

Lemma prior_pos s : (s < length (counts f))%nat -> 0 < IZR (zsum (nth s (counts f) [])).
Proof. intros s_in. apply IZR_lt. now apply formed_parts, nth_In. Qed.

Lemma P_X_is x : (x < n)%nat -> P_X J x = IZR (nth x (columns f) 0%Z) / N.
Proof.
  intros x_in. rewrite column_is by assumption. unfold P_X, J, joint_of, Rdiv. simpl. apply sum_scale_r.
Qed.

Lemma P_S_is s : (s < length (counts f))%nat -> P_S J s = IZR (zsum (nth s (counts f) [])) / N.
Proof. intros s_in. rewrite prior_is by assumption. unfold P_S, J, joint_of, Rdiv. simpl. apply sum_scale_r. Qed.

Theorem J_is_joint : is_joint J.
Proof.
  pose proof N_pos as N_pos. assert (inverse : 0 < / N) by now apply Rinv_0_lt_compat.
  repeat split.
  - intros s x s_in x_in. apply Rmult_le_pos; [now apply entry_nonneg | apply Rlt_le; exact inverse].
  - intros s s_in. rewrite P_S_is by assumption. apply Rmult_lt_0_compat; [now apply prior_pos | assumption].
  - intros x x_in. rewrite P_X_is by assumption. apply Rmult_lt_0_compat; [now apply column_pos | assumption].
  - unfold P_S. rewrite sum_swap. fold (P_X J). simpl.
    rewrite (sum_ext _ _ (fun x => IZR (nth x (columns f) 0%Z) * / N)) by (intros; now apply P_X_is).
    rewrite sum_scale_r. fold n. rewrite <- N_is. field. lra.
Qed.

Lemma weight_nonneg y x : (y < length (weights f))%nat -> 0 <= IZR (weight (nth y (weights f) []) x).
Proof.
  intros y_in. apply IZR_le, (rising_weight 0 n). destruct formed_parts as (_ & _ & _ & rise & _). now apply rise, nth_In.
Qed.

Lemma rows_nth y : (y < length (weights f))%nat -> nth y (rows f) [] = dense n (nth y (weights f) []).
Proof.
  intros y_in. unfold rows. rewrite (nth_indep _ [] (dense n [])) by (now rewrite map_length). apply map_nth.
Qed.

Theorem W_is_mechanism : is_mechanism J W.
Proof.
  pose proof unit_pos as unit_pos. split.
  - intros y x y_in x_in. apply Rmult_le_pos; [now apply weight_nonneg | now apply Rlt_le, Rinv_0_lt_compat].
  - intros x x_in. simpl in x_in. fold n in x_in. simpl. unfold Rdiv. rewrite sum_scale_r.
    destruct formed_parts as (_ & _ & _ & _ & sums). specialize (sums x x_in).
    pose proof (two_pos (bits f)).
    replace (sum _ _) with (IZR (two (bits f))); [field; lra|]. rewrite <- sums at 1. rewrite added_nth by (try apply rows_n; assumption).
    unfold rows. rewrite map_length. apply sum_ext. intros y y_in. unfold entry.
    fold (rows f). rewrite rows_nth by assumption. now rewrite dense_nth.
Qed.

(** N 2^K P(y) and N 2^K P(s, y). *)
Lemma P_Y_is y : (y < length (weights f))%nat ->
  P_Y J W y = IZR (mass_of f (nth y (rows f) [])) / (N * unit).
Proof.
  intros y_in. pose proof N_pos. pose proof unit_pos. rewrite rows_nth by assumption.
  unfold mass_of. rewrite (dot_is n) by (try apply dense_length; apply columns_n).
  unfold P_Y, Rdiv. rewrite <- sum_scale_r. apply sum_ext. intros x x_in.
  rewrite P_X_is by assumption. simpl. fold unit. rewrite dense_nth by assumption. field. lra.
Qed.

Lemma P_SY_is y s : (y < length (weights f))%nat -> (s < length (counts f))%nat ->
  P_SY J W s y = IZR (dot (nth y (rows f) []) (nth s (counts f) [])) / (N * unit).
Proof.
  intros y_in s_in. pose proof N_pos. pose proof unit_pos. rewrite rows_nth by assumption.
  rewrite (dot_is n) by (try apply dense_length; now apply formed_parts, nth_In).
  unfold P_SY, Rdiv. rewrite <- sum_scale_r. apply sum_ext. intros x x_in.
  simpl. fold N unit. rewrite dense_nth by assumption. unfold entry. field. lra.
Qed.

(** l(s, y) = N k_s / (n_s m), as the program has it. *)
Lemma lifts_are y s :
  (y < length (weights f))%nat -> (s < length (counts f))%nat -> (0 < mass_of f (nth y (rows f) []))%Z ->
  let own := nth s (lifts_of f (nth y (rows f) [])) (0, 0)%Z in
  (0 < snd own)%Z /\ lift J W y s = IZR (fst own) / IZR (snd own).
Proof.
  intros y_in s_in occurs. pose proof N_pos. pose proof unit_pos. pose proof (prior_pos s s_in) as prior_pos.
  unfold lifts_of, masses_of. cbv zeta.
  rewrite (map2_nth _ _ _ _ [] 0%Z) by (try rewrite map_length; trivial).
  rewrite (nth_indep _ 0%Z (dot (nth y (rows f) []) [])) by (now rewrite map_length). rewrite map_nth. cbn [fst snd].
  split.
  - apply Z.mul_pos_pos; [|assumption]. now apply lt_IZR.
  - unfold lift. rewrite P_SY_is, P_S_is, P_Y_is by assumption. rewrite !mult_IZR. fold N.
    apply IZR_lt in occurs. field. lra.
Qed.

Lemma lifts_length row : length (lifts_of f row) = length (counts f).
Proof. unfold lifts_of, masses_of. cbv zeta. now rewrite map2_length; rewrite ?map_length. Qed.

End File.
