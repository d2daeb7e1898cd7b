(** Entropy and its two facts: it lies below its tangents, and what is concave on an interval is least at an end
    (docs/theory.md, step 7). *)

From Coq Require Import Reals Lra Lia.
From Alphalift Require Import Sums.
Open Scope R_scope.

(** phi(v) = -v log v; 0 at 0, since Coq's ln is 0 there. *)
Definition phi (v : R) : R := - v * ln v.

Definition entropy (n : nat) (V : nat -> R) : R := sum n (fun x => phi (V x)).

Lemma phi_0 : phi 0 = 0.
Proof. unfold phi. lra. Qed.

Lemma ln_below t : 0 < t -> ln t <= t - 1.
Proof. intros positive. pose proof (exp_ineq1_le (ln t)). rewrite exp_ln in H by assumption. lra. Qed.

(** Gibbs' inequality for one term: a log(a / v) >= a - v. *)
Lemma gibbs a v : 0 <= a -> 0 < v -> a - v <= a * ln a - a * ln v.
Proof.
  intros [above| <-] positive; [|lra].
  assert (quotient : 0 < v / a) by now apply Rdiv_lt_0_compat.
  pose proof (ln_below _ quotient) as below.
  unfold Rdiv in below. rewrite ln_mult, ln_Rinv in below by (try apply Rinv_0_lt_compat; assumption).
  apply (Rmult_le_compat_l a) in below; [|lra].
  replace (a * (v * / a - 1)) with (v - a) in below by (field; lra). lra.
Qed.

(** phi lies below its tangent at v. *)
Lemma phi_tangent a v : 0 <= a -> 0 < v -> phi a <= phi v + (a - v) * (- ln v - 1).
Proof. intros signs positive. pose proof (gibbs a v signs positive). unfold phi. lra. Qed.

(** The leaf inequality of one symbol: phi(v) - c v between two ends is at least its lesser end. *)
Lemma least_at_an_end a v b c :
  0 <= a <= v -> v <= b -> Rmin (phi a - c * a) (phi b - c * b) <= phi v - c * v.
Proof.
  intros [signs above] below.
  destruct (Rle_lt_or_eq_dec 0 v) as [positive|null]; [lra| |].
  - pose proof (phi_tangent a v signs positive) as left.
    pose proof (phi_tangent b v ltac:(lra) positive) as right.
    set (slope := - ln v - 1 - c).
    assert (left' : phi a - c * a <= phi v - c * v + (a - v) * slope) by (unfold slope; lra).
    assert (right' : phi b - c * b <= phi v - c * v + (b - v) * slope) by (unfold slope; lra).
    destruct (Rle_lt_dec 0 slope) as [rises|falls].
    + assert ((a - v) * slope <= 0) by nra.
      eapply Rle_trans; [apply Rmin_l | lra].
    + assert ((b - v) * slope <= 0) by nra.
      eapply Rle_trans; [apply Rmin_r | lra].
  - replace a with v by lra. apply Rmin_l.
Qed.

Lemma phi_nonneg v : 0 <= v <= 1 -> 0 <= phi v.
Proof.
  intros inside. pose proof (least_at_an_end 0 v 1 0 ltac:(lra) ltac:(lra)) as least.
  revert least. unfold phi. rewrite ln_1. unfold Rmin. destruct (Rle_dec _ _); lra.
Qed.

Lemma entropy_nonneg n V : (forall x, (x < n)%nat -> 0 <= V x) -> sum n V = 1 -> 0 <= entropy n V.
Proof.
  intros signs total. apply sum_nonneg. intros x inside. apply phi_nonneg. split; [auto|].
  rewrite <- total. now apply sum_term.
Qed.
