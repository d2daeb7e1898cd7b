(** Finite sums, as docs/theory.md writes them: [sum n f] is f 0 + ... + f (n-1). *)

From Coq Require Import Reals Lra Lia List ZArith.
Import ListNotations.
Open Scope R_scope.

Fixpoint sum (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S k => sum k f + f k end.

Lemma sum_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
Proof.
  induction n as [|n IH]; intros same; simpl; [reflexivity|].
  rewrite IH, same by (intros; try apply same; lia). reflexivity.
Qed.

Lemma sum_le n f g : (forall i, (i < n)%nat -> f i <= g i) -> sum n f <= sum n g.
Proof.
  induction n as [|n IH]; intros below; simpl; [lra|].
  apply Rplus_le_compat; [apply IH; intros; apply below | apply below]; lia.
Qed.

Lemma sum_zero n : sum n (fun _ => 0) = 0.
Proof. induction n; simpl; lra. Qed.

Lemma sum_nonneg n f : (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= sum n f.
Proof. intros signs. rewrite <- (sum_zero n). now apply sum_le. Qed.

Lemma sum_plus n f g : sum n (fun i => f i + g i) = sum n f + sum n g.
Proof. induction n; simpl; lra. Qed.

Lemma sum_minus n f g : sum n (fun i => f i - g i) = sum n f - sum n g.
Proof. induction n; simpl; lra. Qed.

Lemma sum_scale n c f : sum n (fun i => c * f i) = c * sum n f.
Proof. induction n; simpl; lra. Qed.

Lemma sum_scale_r n c f : sum n (fun i => f i * c) = sum n f * c.
Proof. induction n; simpl; lra. Qed.

Lemma sum_swap n m f :
  sum n (fun i => sum m (fun j => f i j)) = sum m (fun j => sum n (fun i => f i j)).
Proof.
  induction n as [|n IH]; simpl.
  - now rewrite sum_zero.
  - now rewrite IH, sum_plus.
Qed.

(** One term of a sum of terms that are not negative is at most the sum. *)
Lemma sum_term n f i : (i < n)%nat -> (forall j, (j < n)%nat -> 0 <= f j) -> f i <= sum n f.
Proof.
  induction n as [|n IH]; intros inside signs; [lia|]. simpl.
  assert (0 <= sum n f) by (apply sum_nonneg; intros; apply signs; lia).
  assert (0 <= f n) by (apply signs; lia).
  destruct (Nat.eq_dec i n) as [->|other]; [lra|].
  assert (f i <= sum n f) by (apply IH; [lia | intros; apply signs; lia]). lra.
Qed.

Lemma sum_pos n f i :
  (i < n)%nat -> (forall j, (j < n)%nat -> 0 <= f j) -> 0 < f i -> 0 < sum n f.
Proof. intros inside signs above. pose proof (sum_term n f i inside signs). lra. Qed.

Lemma sum_null n f :
  (forall j, (j < n)%nat -> 0 <= f j) -> sum n f = 0 -> forall i, (i < n)%nat -> f i = 0.
Proof.
  intros signs null i inside.
  pose proof (sum_term n f i inside signs). pose proof (signs i inside). lra.
Qed.

Lemma sum_first n f : sum (S n) f = f 0%nat + sum n (fun i => f (S i)).
Proof. induction n as [|n IH]; simpl in *; lra. Qed.

(** A sum with one term exchanged for another. *)
Lemma sum_replace n f i v :
  (i < n)%nat -> sum n (fun j => if Nat.eqb j i then v else f j) = sum n f - f i + v.
Proof.
  induction n as [|n IH]; intros inside; [lia|]. simpl.
  destruct (Nat.eq_dec i n) as [->|other].
  - rewrite Nat.eqb_refl, (sum_ext n _ f); [lra|].
    intros j below. destruct (Nat.eqb_spec j n); [lia | reflexivity].
  - rewrite IH by lia. destruct (Nat.eqb_spec n i); [lia | lra].
Qed.

(** The same sums of the integers of a list. *)
Definition zsum (l : list Z) : Z := fold_right Z.add 0%Z l.

Lemma zsum_sum l : IZR (zsum l) = sum (length l) (fun i => IZR (nth i l 0%Z)).
Proof.
  induction l as [|z l IH]; [reflexivity|].
  cbn [length zsum fold_right]. rewrite sum_first, plus_IZR. cbn [nth]. unfold zsum in IH. lra.
Qed.

(** Sums of what is computed from two lists, entry by entry. *)
Definition map2 {A B C} (f : A -> B -> C) : list A -> list B -> list C :=
  fix go l m := match l, m with a :: l', b :: m' => f a b :: go l' m' | _, _ => [] end.

Lemma map2_length {A B C} (f : A -> B -> C) l m :
  length l = length m -> length (map2 f l m) = length l.
Proof. revert m; induction l; destruct m; simpl; intros; try lia; auto. Qed.

Lemma map2_nth {A B C} (f : A -> B -> C) l m i a b c :
  length l = length m -> (i < length l)%nat -> nth i (map2 f l m) c = f (nth i l a) (nth i m b).
Proof.
  revert m i; induction l as [|x l IH]; destruct m; simpl; intros i same inside; try lia.
  destruct i; [reflexivity | apply IH; lia].
Qed.
