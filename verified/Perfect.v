(** A budget of 0 allows l = 1 alone (docs/theory.md, steps 2 and 6). *)

From Coq Require Import Reals Lra Lia.
From Alphalift Require Import Sums Problem Entropy Duality Powers Support.
Open Scope R_scope.

Fixpoint no_budget (q : promise) : Prop :=
  match q with
  | LIP lower upper => lower = 0 \/ upper = 0
  | Both first second => no_budget first \/ no_budget second
  | MaxLift epsilon | AlphaLift _ epsilon | LDP epsilon | TotalVariation epsilon | ChiSquare epsilon | KL epsilon
  | Renyi _ epsilon => epsilon = 0
  end.

(** log touches its tangent at one place, as t log t and powers do. *)
Lemma ln_touches t : 0 < t -> t - 1 <= ln t -> t = 1.
Proof.
  intros positive below. destruct (Req_dec (ln t) 0) as [null|other].
  - rewrite <- (exp_ln t), null by assumption. apply exp_0.
  - pose proof (exp_ineq1 (ln t) other) as above. rewrite exp_ln in above by assumption. lra.
Qed.

Lemma gibbs_touches t : 0 <= t -> t * ln t <= t - 1 -> t = 1.
Proof.
  intros [positive| <-] below; [|lra]. assert (inverse : 0 < / t) by now apply Rinv_0_lt_compat.
  rewrite <- (Rinv_inv t). rewrite (ln_touches (/ t)); [lra | assumption|].
  rewrite ln_Rinv by assumption. apply (Rmult_le_reg_l t); [assumption|].
  rewrite Rmult_minus_distr_l, Rinv_r by lra. lra.
Qed.

Lemma bernoulli_touches t a : 1 < a -> 0 <= t -> power t a <= 1 + a * (t - 1) -> t = 1.
Proof.
  intros a_gt [t_pos| <-] below; [|rewrite power_0 in below; lra]. set (z := 1 + a * (t - 1)) in *.
  assert (z_pos : 0 < z) by (pose proof (power_gt t a t_pos); lra).
  assert (logs : a * ln t <= ln z).
  { rewrite <- (ln_exp (a * ln t)), <- power_pos by assumption. pose proof (power_gt t a t_pos) as above.
    destruct below as [less| ->]; [now apply Rlt_le, ln_increasing | lra]. }
  pose proof (ln_tangent z t z_pos t_pos) as at_z.
  assert (balance : (z - t) / t = (a - 1) * (1 - / t)) by (unfold z; field; lra).
  assert (inverse : 0 < / t) by now apply Rinv_0_lt_compat.
  rewrite <- (Rinv_inv t). rewrite (ln_touches (/ t)); [lra | assumption|].
  rewrite ln_Rinv by assumption. apply (Rmult_le_reg_l (a - 1)); lra.
Qed.

Section Joint.
Variable J : joint.
Hypothesis J_is_joint : is_joint J.

Lemma mean_null h :
  (forall s, (s < secrets J)%nat -> 0 <= h s) -> mean J h <= 0 -> forall s, (s < secrets J)%nat -> h s = 0.
Proof.
  intros signs below s s_in. pose proof (P_S_pos J J_is_joint s s_in) as positive.
  assert (terms : forall i, (i < secrets J)%nat -> 0 <= P_S J i * h i).
  { intros i i_in. pose proof (P_S_pos J J_is_joint i i_in). apply Rmult_le_pos; [lra | auto]. }
  pose proof (sum_nonneg _ _ terms) as above. unfold mean, mean_over in below.
  pose proof (sum_null _ _ terms ltac:(lra) s s_in) as null. simpl in null. nra.
Qed.

Theorem only_ones q l :
  is_promise q -> no_budget q -> (forall s, (s < secrets J)%nat -> 0 <= l s) -> mean J l = 1 -> allows J q l ->
  forall s, (s < secrets J)%nat -> l s = 1.
Proof.
  intros proper null signs total.
  assert (shifted : forall a b, mean J (fun s => a * l s + b) = a + b).
  { intros a b. rewrite mean_plus, mean_scale, mean_const by assumption. change (mean J (fun s => l s)) with (mean J l). rewrite total. lra. }
  assert (powers : forall a, 1 < a -> mean J (fun s => power (l s) a) <= 1 -> forall s, (s < secrets J)%nat -> l s = 1).
  { intros a a_gt below s s_in. apply (bernoulli_touches _ a a_gt); [auto|].
    enough (power (l s) a + (- a * l s + (a - 1)) = 0) by lra. revert s s_in. apply mean_null.
    - intros s s_in. pose proof (bernoulli (l s) a a_gt (signs s s_in)). lra.
    - rewrite (mean_plus J (fun s => power (l s) a)), shifted. lra. }
  assert (at_most : (forall s, (s < secrets J)%nat -> l s <= 1) -> forall s, (s < secrets J)%nat -> l s = 1).
  { intros below s s_in. enough (-1 * l s + 1 = 0) by lra. revert s s_in. apply mean_null.
    - intros s s_in. specialize (below s s_in). lra.
    - rewrite shifted. lra. }
  induction q as [epsilon | alpha epsilon | lower upper | epsilon | epsilon | epsilon | epsilon | order epsilon
    | first IH second IH']; simpl in proper, null; intros allowed.
  - apply at_most. intros s s_in. rewrite <- exp_0, <- null. apply allowed; [assumption | now apply P_S_pos].
  - apply (powers alpha proper). rewrite <- exp_0. replace 0 with (alpha * epsilon) by (rewrite null; lra).
    apply norm_above; [assumption | | exact allowed].
    apply mean_nonneg; [assumption|]. intros; apply power_nonneg.
  - destruct null as [null|null].
    + intros s s_in. enough (1 * l s + -1 = 0) by lra. revert s s_in. apply mean_null.
      * intros s s_in. destruct (allowed s s_in (P_S_pos J J_is_joint s s_in)) as [above _].
        rewrite null, Ropp_0, exp_0 in above. lra.
      * rewrite shifted. lra.
    + apply at_most. intros s s_in. rewrite <- exp_0, <- null. now apply allowed; [|apply P_S_pos].
  - intros s s_in. assert (close : forall i, (i < secrets J)%nat -> l s <= l i /\ l i <= l s).
    { intros i i_in. rewrite <- (Rmult_1_l (l i)) at 1. rewrite <- (Rmult_1_l (l s)) at 2. rewrite <- exp_0, <- null.
      split; apply allowed; try assumption; now apply P_S_pos. }
    assert (mean J (fun _ => l s) = mean J l).
    { apply mean_same. intros i i_in. specialize (close i i_in). lra. }
    rewrite mean_const in * by assumption. lra.
  - intros s s_in. enough (Rabs (l s - 1) = 0) as equal by (revert equal; unfold Rabs; destruct (Rcase_abs (l s - 1)); lra). revert s s_in. apply mean_null.
    + intros; apply Rabs_pos.
    + unfold allows in allowed. simpl in allowed. unfold mean. lra.
  - intros s s_in. enough ((l s - 1) ^ 2 = 0) by nra. revert s s_in. apply mean_null.
    + intros; apply pow2_ge_0.
    + unfold allows in allowed. cbn [allows_over] in allowed. rewrite null in allowed. unfold mean. lra.
  - intros s s_in. apply gibbs_touches; [auto|].
    enough (l s * ln (l s) + (-1 * l s + 1) = 0) by lra. revert s s_in. apply mean_null.
    + intros s s_in. pose proof (gibbs (l s) 1 (signs s s_in) Rlt_0_1) as above. rewrite ln_1 in above. lra.
    + rewrite (mean_plus J (fun s => l s * ln (l s))), shifted. unfold allows in allowed. simpl in allowed.
      rewrite null in allowed. unfold mean. lra.
  - apply (powers order proper). change (mean J (fun s => power (l s) order) <= exp ((order - 1) * epsilon)) in allowed.
    rewrite null, Rmult_0_r, exp_0 in allowed. exact allowed.
  - destruct proper, allowed. destruct null; [apply IH | apply IH']; assumption.
Qed.

(** There sigma(w) = E w. *)
Theorem support_perfect q w : is_promise q -> no_budget q -> supports J q w (mean J w).
Proof.
  intros proper null l signs total allowed. right. apply mean_same. intros s s_in.
  rewrite (only_ones q l proper null signs total allowed s s_in). lra.
Qed.

End Joint.
