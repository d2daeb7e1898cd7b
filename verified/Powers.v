(** Real powers: Bernoulli's and Young's inequalities, for Hoelder's in step 6 and unseen values in step 3. *)

From Coq Require Import Reals Lra Lia.
From Alphalift Require Import Problem Entropy.
Open Scope R_scope.

Lemma power_0 a : power 0 a = 0.
Proof. unfold power. destruct (Rle_dec 0 0); lra. Qed.

Lemma power_pos t a : 0 < t -> power t a = exp (a * ln t).
Proof. intros positive. unfold power. destruct (Rle_dec t 0); [lra | reflexivity]. Qed.

Lemma power_nonneg t a : 0 <= power t a.
Proof. unfold power. destruct (Rle_dec t 0); [lra|]. apply Rlt_le, exp_pos. Qed.

Lemma power_gt t a : 0 < t -> 0 < power t a.
Proof. intros positive. rewrite power_pos by assumption. apply exp_pos. Qed.

Lemma power_1 t : 0 <= t -> power t 1 = t.
Proof.
  intros [positive| <-]; [|apply power_0].
  rewrite power_pos, Rmult_1_l by assumption. now apply exp_ln.
Qed.

Lemma power_power t a b : 0 <= t -> power (power t a) b = power t (a * b).
Proof.
  intros [positive| <-]; [|now rewrite !power_0].
  rewrite (power_pos (power t a)) by now apply power_gt.
  rewrite !power_pos by assumption. rewrite ln_exp. f_equal. lra.
Qed.

Lemma power_mult x y a : 0 <= x -> 0 <= y -> power (x * y) a = power x a * power y a.
Proof.
  intros [x_pos| <-]; [|intros; now rewrite Rmult_0_l, power_0, Rmult_0_l].
  intros [y_pos| <-]; [|now rewrite Rmult_0_r, power_0, Rmult_0_r].
  rewrite !power_pos by (try apply Rmult_lt_0_compat; assumption).
  rewrite ln_mult, <- exp_plus by assumption. f_equal. lra.
Qed.

Lemma power_le x y a : 0 < a -> 0 <= x <= y -> power x a <= power y a.
Proof.
  intros a_pos [[x_pos| <-] above]; [|rewrite power_0; apply power_nonneg].
  rewrite !power_pos by lra. destruct above as [less| ->]; [|lra].
  apply Rlt_le, exp_increasing, Rmult_lt_compat_l; [assumption | now apply ln_increasing].
Qed.

Lemma exp_le x y : x <= y -> exp x <= exp y.
Proof. intros [less| ->]; [now apply Rlt_le, exp_increasing | lra]. Qed.

(** log is below its tangent at t. *)
Lemma ln_tangent z t : 0 < z -> 0 < t -> ln z <= ln t + (z - t) / t.
Proof.
  intros z_pos t_pos.
  pose proof (ln_below (z / t) ltac:(now apply Rdiv_lt_0_compat)) as below.
  unfold Rdiv in *. rewrite ln_mult, ln_Rinv in below by (try apply Rinv_0_lt_compat; assumption).
  replace ((z - t) * / t) with (z * / t - 1) by (field; lra). lra.
Qed.

Lemma bernoulli r a : 1 < a -> 0 <= r -> 1 + a * (r - 1) <= power r a.
Proof.
  intros a_gt r_nonneg. pose proof (power_nonneg r a) as above.
  destruct (Rle_lt_dec (1 + a * (r - 1)) 0) as [|z_pos]; [lra|].
  destruct r_nonneg as [r_pos| <-]; [|lra].
  set (z := 1 + a * (r - 1)) in *.
  assert (concave : ln z <= a * ln r).
  { pose proof (ln_tangent z r z_pos r_pos) as at_z.
    pose proof (ln_tangent 1 r Rlt_0_1 r_pos) as at_1. rewrite ln_1 in at_1.
    apply (Rmult_le_compat_l (a - 1)) in at_1; [|lra].
    assert (balance : (z - r) / r + (a - 1) * ((1 - r) / r) = 0) by (unfold z; field; lra). lra. }
  rewrite power_pos by assumption. rewrite <- (exp_ln z) by assumption. now apply exp_le.
Qed.

(** The conjugate exponent b of a, 1/a + 1/b = 1. *)
Definition conjugate (a : R) : R := a / (a - 1).

Lemma conjugate_gt a : 1 < a -> 1 < conjugate a.
Proof.
  intros a_gt. unfold conjugate. apply (Rmult_lt_reg_r (a - 1)); [lra|].
  replace (a / (a - 1) * (a - 1)) with a by (field; lra). lra.
Qed.

Lemma conjugate_inv a : 1 < a -> / conjugate a = 1 - / a.
Proof. intros a_gt. unfold conjugate. field. lra. Qed.

Lemma young x y a :
  1 < a -> 0 <= x -> 0 <= y -> x * y <= power x a * / a + power y (conjugate a) * / conjugate a.
Proof.
  intros a_gt x_nonneg [y_pos| <-].
  - set (b := conjugate a). assert (b_gt : 1 < b) by now apply conjugate_gt.
    assert (b_inv : / b = 1 - / a) by now apply conjugate_inv. rewrite b_inv.
    assert (lower_pos : 0 < power y (b / a)) by now apply power_gt.
    pose proof (bernoulli (x / power y (b / a)) a a_gt) as bern.
    assert (quotient : 0 <= x / power y (b / a)).
    { apply Rmult_le_pos; [assumption | now apply Rlt_le, Rinv_0_lt_compat]. }
    specialize (bern quotient).
    assert (split : power x a = power (x / power y (b / a)) a * power y b).
    { replace (power y b) with (power (power y (b / a)) a).
      - rewrite <- power_mult by lra. f_equal. field. lra.
      - rewrite power_power by lra. f_equal. field. lra. }
    assert (yb_pos : 0 < power y b) by now apply power_gt.
    assert (y_is : y * power y (b / a) = power y b).
    { rewrite <- (power_1 y) at 1 by lra. rewrite !power_pos, <- exp_plus by assumption. f_equal.
      unfold b, conjugate. field. lra. }
    apply (Rmult_le_compat_r (power y b)) in bern; [|lra]. rewrite <- split in bern.
    replace ((1 + a * (x / power y (b / a) - 1)) * power y b)
      with ((1 - a) * power y b + a * (x * y)) in bern by (rewrite <- y_is; field; lra).
    apply (Rmult_le_compat_l (/ a)) in bern; [|now apply Rlt_le, Rinv_0_lt_compat; lra].
    replace (/ a * ((1 - a) * power y b + a * (x * y))) with (x * y - (1 - / a) * power y b) in bern by (field; lra).
    lra.
  - rewrite power_0. pose proof (power_nonneg x a).
    assert (0 < / a) by (apply Rinv_0_lt_compat; lra). nra.
Qed.

(** E l^alpha <= e^(alpha epsilon) says the same as the norm. *)
Lemma norm_below m alpha epsilon :
  1 < alpha -> 0 <= m -> m <= exp (alpha * epsilon) -> power m (1 / alpha) <= exp epsilon.
Proof.
  intros alpha_gt nonneg below.
  apply Rle_trans with (power (exp (alpha * epsilon)) (1 / alpha)).
  - apply power_le; [|split; assumption]. apply Rdiv_lt_0_compat; lra.
  - rewrite power_pos by apply exp_pos. rewrite ln_exp. apply exp_le. right. field. lra.
Qed.

Lemma norm_above m alpha epsilon :
  1 < alpha -> 0 <= m -> power m (1 / alpha) <= exp epsilon -> m <= exp (alpha * epsilon).
Proof.
  intros alpha_gt nonneg below.
  rewrite <- (power_1 m) by assumption. replace 1 with (1 / alpha * alpha) by (field; lra).
  rewrite <- power_power by assumption.
  replace (exp (alpha * epsilon)) with (power (exp epsilon) alpha)
    by (rewrite power_pos by apply exp_pos; now rewrite ln_exp).
  apply power_le; [lra|]. split; [apply power_nonneg | assumption].
Qed.

Lemma power_convex x y share a :
  1 < a -> 0 <= x -> 0 <= y -> 0 <= share <= 1 ->
  power (share * x + (1 - share) * y) a <= share * power x a + (1 - share) * power y a.
Proof.
  intros a_gt x_nonneg y_nonneg [share_nonneg share_most]. set (v := share * x + (1 - share) * y).
  assert (v_nonneg : 0 <= v) by (unfold v; nra).
  destruct v_nonneg as [v_pos|null].
  - assert (inverse : 0 < / v) by now apply Rinv_0_lt_compat.
    assert (v_a : 0 < power v a) by now apply power_gt.
    assert (tangent : forall t, 0 <= t -> power v a * (1 + a * (t / v - 1)) <= power t a).
    { intros t t_nonneg. assert (quotient : 0 <= t / v) by (apply Rmult_le_pos; lra).
      replace (power t a) with (power v a * power (t / v) a).
      - apply Rmult_le_compat_l; [lra | now apply bernoulli].
      - rewrite <- power_mult by lra. f_equal. field. lra. }
    pose proof (tangent x x_nonneg) as at_x. pose proof (tangent y y_nonneg) as at_y.
    apply (Rmult_le_compat_l share) in at_x; [|assumption].
    apply (Rmult_le_compat_l (1 - share)) in at_y; [|lra].
    assert (balance : share * (power v a * (1 + a * (x / v - 1))) + (1 - share) * (power v a * (1 + a * (y / v - 1))) =
      power v a) by (unfold v in *; field; lra). lra.
  - rewrite <- null, power_0. pose proof (power_nonneg x a). pose proof (power_nonneg y a). nra.
Qed.
