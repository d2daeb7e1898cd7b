(** Unseen values: the promise over all records, whatever share of them is answered without X (docs/theory.md, step 3). *)

From Coq Require Import Reals Lra Lia List ZArith Bool.
From Alphalift Require Import Sums Problem Entropy Duality Powers Support Arithmetic Cover Checker Meaning Integers Promises.
Import ListNotations.
Open Scope R_scope.

Lemma sum_seen n k g : (n <= k)%nat -> sum k (fun s => if Nat.ltb s n then g s else 0) = sum n g.
Proof.
  induction k as [|k IH]; intros inside.
  - replace n with 0%nat by lia. reflexivity.
  - simpl. destruct (Nat.ltb_spec k n) as [within|beyond].
    + replace n with (S k) by lia. simpl. f_equal. apply sum_ext. intros i i_in.
      destruct (Nat.ltb_spec i (S k)); [reflexivity | lia].
    + rewrite IH by lia. lra.
Qed.

Section Output.
Variables (J : joint) (W : mechanism) (y : nat) (U : R).
Hypothesis joint : is_joint J.
Hypothesis mech : is_mechanism J W.
Hypothesis y_in : (y < outputs W)%nat.
Hypothesis occurs : 0 < P_Y J W y.
Hypothesis answered : 0 < U.

Variables (share : R) (k : nat) (r : nat -> R).
Hypothesis share_in : 0 <= share <= 1.
Hypothesis more : (secrets J <= k)%nat.
Hypothesis r_nonneg : forall s, (s < k)%nat -> 0 <= r s.
Hypothesis r_total : sum k r = 1.

Let of_seen (f : nat -> R) s := if Nat.ltb s (secrets J) then f s else 0.
Let prior s := (1 - share) * of_seen (P_S J) s + share * r s.
Let p_y := (1 - share) * P_Y J W y + share * U.
Let p_sy s := (1 - share) * of_seen (fun s => P_SY J W s y) s + share * (r s * U).
Let l s := lift J W y s.
Let rho := U / P_Y J W y.

Lemma p_y_pos : 0 < p_y.
Proof. unfold p_y. nra. Qed.

Lemma P_SY_lift s : (s < secrets J)%nat -> P_SY J W s y = P_S J s * (l s * P_Y J W y).
Proof. intros s_in. pose proof (P_S_pos J joint s s_in). unfold l, lift. field. lra. Qed.

Lemma lift_signs s : (s < secrets J)%nat -> 0 <= l s.
Proof.
  intros s_in. unfold l. rewrite <- lift_of_posterior by assumption. apply lift_nonneg; trivial.
  now apply posterior_is.
Qed.

Theorem unseen_max epsilon :
  0 <= epsilon -> allows J (MaxLift epsilon) l ->
  rho <= exp epsilon -> (forall s, (s < secrets J)%nat -> l s <= exp epsilon * rho) ->
  allows_over k prior (MaxLift epsilon) (fun s => p_sy s / (prior s * p_y)).
Proof.
  intros epsilon_nonneg seen rho_below below s s_in prior_pos.
  pose proof p_y_pos as p_y_pos. pose proof (exp_ge_1 epsilon epsilon_nonneg) as e_ge.
  set (e := exp epsilon) in *. unfold rho in *.
  assert (U_below : U <= e * P_Y J W y).
  { apply (Rmult_le_compat_r (P_Y J W y)) in rho_below; [|lra].
    replace (U / P_Y J W y * P_Y J W y) with U in rho_below by (field; lra). lra. }
  assert (between : forall t, t <= e * P_Y J W y -> t <= e * U -> t <= e * p_y).
  { intros t first second. apply (Rmult_le_compat_l (1 - share)) in first; [|lra].
    apply (Rmult_le_compat_l share) in second; [|lra]. unfold p_y. lra. }
  assert (answers : U <= e * p_y) by (apply between; nra).
  assert (lifts : forall s, (s < secrets J)%nat -> l s * P_Y J W y <= e * p_y).
  { intros t t_in. pose proof (seen t t_in (P_S_pos J joint t t_in)) as first. fold e in first.
    pose proof (below t t_in) as second.
    assert (l t * P_Y J W y <= e * P_Y J W y) by (apply Rmult_le_compat_r; lra).
    assert (l t * P_Y J W y <= e * U).
    { apply (Rmult_le_compat_r (P_Y J W y)) in second; [|lra].
      replace (e * (U / P_Y J W y) * P_Y J W y) with (e * U) in second by (field; lra). lra. }
    now apply between. }
  enough (p_sy s <= e * (prior s * p_y)) as bound.
  { assert (0 < prior s * p_y) by now apply Rmult_lt_0_compat.
    apply (Rmult_le_reg_r (prior s * p_y)); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  unfold p_sy, prior, of_seen.
  assert (unknown : share * (r s * U) <= share * (r s * (e * p_y))).
  { apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; [now apply r_nonneg | assumption]. }
  destruct (Nat.ltb_spec s (secrets J)) as [within|beyond]; [|lra].
  rewrite P_SY_lift by assumption. pose proof (P_S_pos J joint s within).
  assert (known : (1 - share) * (P_S J s * (l s * P_Y J W y)) <= (1 - share) * (P_S J s * (e * p_y))).
  { apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; [lra | now apply lifts]. }
  lra.
Qed.

(** What lies between P(y) and U times factors lies between them for all records together. *)
Lemma mixed_below e t : 0 <= e -> t <= e * P_Y J W y -> t <= e * U -> t <= e * p_y.
Proof.
  intros e_nonneg first second. apply (Rmult_le_compat_l (1 - share)) in first; [|lra].
  apply (Rmult_le_compat_l share) in second; [|lra]. unfold p_y. lra.
Qed.

Lemma mixed_above c t : 0 <= c -> c * P_Y J W y <= t -> c * U <= t -> c * p_y <= t.
Proof.
  intros c_nonneg first second. apply (Rmult_le_compat_l (1 - share)) in first; [|lra].
  apply (Rmult_le_compat_l share) in second; [|lra]. unfold p_y. lra.
Qed.

Theorem unseen_LIP lower upper :
  0 <= lower -> 0 <= upper -> allows J (LIP lower upper) l ->
  exp (- lower) <= rho <= exp upper ->
  (forall s, (s < secrets J)%nat -> exp (- lower) * rho <= l s <= exp upper * rho) ->
  allows_over k prior (LIP lower upper) (fun s => p_sy s / (prior s * p_y)).
Proof.
  intros lower_nonneg upper_nonneg seen [rho_above rho_below] within s s_in prior_pos.
  split; [|apply (unseen_max upper upper_nonneg); try assumption].
  2: { intros t t_in t_pos. now apply seen. }
  2: { intros t t_in. now apply within. }
  pose proof p_y_pos as p_y_pos.
  assert (c_pos : 0 < exp (- lower)) by apply exp_pos.
  assert (c_most : exp (- lower) <= 1) by (rewrite <- exp_0; apply exp_le; lra).
  set (c := exp (- lower)) in *.
  assert (unfolded : forall t, c * rho <= t -> c * U <= t * P_Y J W y).
  { intros t below. apply (Rmult_le_compat_r (P_Y J W y)) in below; [|lra].
    unfold rho in below. replace (c * (U / P_Y J W y) * P_Y J W y) with (c * U) in below by (field; lra). exact below. }
  assert (answers : c * p_y <= U).
  { apply mixed_above; [lra| |].
    - apply (Rmult_le_compat_r (P_Y J W y)) in rho_above; [|lra]. unfold rho in rho_above.
      replace (U / P_Y J W y * P_Y J W y) with U in rho_above by (field; lra). exact rho_above.
    - nra. }
  enough (c * (prior s * p_y) <= p_sy s) as bound.
  { assert (0 < prior s * p_y) by now apply Rmult_lt_0_compat.
    apply (Rmult_le_reg_r (prior s * p_y)); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  unfold p_sy, prior, of_seen.
  assert (unknown : share * (r s * (c * p_y)) <= share * (r s * U)).
  { apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; [now apply r_nonneg | assumption]. }
  destruct (Nat.ltb_spec s (secrets J)) as [in_table|beyond]; [|lra].
  rewrite P_SY_lift by assumption. pose proof (P_S_pos J joint s in_table) as P_s.
  assert (known : (1 - share) * (P_S J s * (c * p_y)) <= (1 - share) * (P_S J s * (l s * P_Y J W y))).
  { apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; [lra|]. apply mixed_above; [lra| |].
    - apply Rmult_le_compat_r; [lra|]. now apply (seen s in_table).
    - apply unfolded. now apply within. }
  lra.
Qed.

Theorem unseen_LDP epsilon :
  0 <= epsilon -> allows J (LDP epsilon) l ->
  (forall s, (s < secrets J)%nat -> l s <= exp epsilon * rho /\ rho <= exp epsilon * l s) ->
  allows_over k prior (LDP epsilon) (fun s => p_sy s / (prior s * p_y)).
Proof.
  intros epsilon_nonneg seen near s s' s_in s'_in prior_s prior_s'.
  pose proof p_y_pos as p_y_pos. pose proof (exp_ge_1 epsilon epsilon_nonneg) as e_ge. set (e := exp epsilon) in *.
  enough (p_sy s * prior s' <= e * (p_sy s' * prior s)) as bound.
  { apply (Rmult_le_reg_r (prior s * prior s' * p_y)); [repeat apply Rmult_lt_0_compat; assumption|].
    replace (p_sy s / (prior s * p_y) * (prior s * prior s' * p_y)) with (p_sy s * prior s') by (field; lra).
    replace (e * (p_sy s' / (prior s' * p_y)) * (prior s * prior s' * p_y)) with (e * (p_sy s' * prior s)) by (field; lra).
    exact bound. }
  (* Every numerator is a mixture of l P(y) and U; any two of these are within e of each other. *)
  pose (a := fun s => if Nat.ltb s (secrets J) then l s * P_Y J W y else 0).
  assert (numerator : forall s, p_sy s = (1 - share) * of_seen (P_S J) s * a s + share * r s * U).
  { intros t. unfold p_sy, of_seen, a. destruct (Nat.ltb_spec t (secrets J)) as [in_table|]; [|lra].
    rewrite P_SY_lift by assumption. lra. }
  assert (rho_is : rho * P_Y J W y = U) by (unfold rho; field; lra).
  assert (seen_nonneg : forall t, 0 <= (1 - share) * of_seen (P_S J) t).
  { intros t. apply Rmult_le_pos; [lra|]. unfold of_seen. destruct (Nat.ltb_spec t (secrets J)) as [in_table|]; [|lra].
    now apply Rlt_le, P_S_pos. }
  assert (known : forall t t', (1 - share) * of_seen (P_S J) t * ((1 - share) * of_seen (P_S J) t') * a t <=
    (1 - share) * of_seen (P_S J) t * ((1 - share) * of_seen (P_S J) t') * (e * a t')).
  { intros t t'. unfold of_seen, a.
    destruct (Nat.ltb_spec t (secrets J)) as [t_in|]; [|lra].
    destruct (Nat.ltb_spec t' (secrets J)) as [t'_in|]; [|lra].
    pose proof (P_S_pos J joint t t_in). pose proof (P_S_pos J joint t' t'_in).
    apply Rmult_le_compat_l; [repeat apply Rmult_le_pos; lra|].
    pose proof (seen t t' t_in t'_in ltac:(assumption) ltac:(assumption)) as close. fold e in close.
    apply (Rmult_le_compat_r (P_Y J W y)) in close; lra. }
  assert (half : forall t, (1 - share) * of_seen (P_S J) t * a t <= (1 - share) * of_seen (P_S J) t * (e * U) /\
    (1 - share) * of_seen (P_S J) t * U <= (1 - share) * of_seen (P_S J) t * (e * a t)).
  { intros t. unfold of_seen, a. destruct (Nat.ltb_spec t (secrets J)) as [t_in|]; [|lra].
    pose proof (P_S_pos J joint t t_in). destruct (near t t_in) as [below above].
    apply (Rmult_le_compat_r (P_Y J W y)) in below; [|lra]. apply (Rmult_le_compat_r (P_Y J W y)) in above; [|lra].
    rewrite rho_is in above. replace (e * rho * P_Y J W y) with (e * U) in below by (rewrite <- rho_is; lra).
    split; (apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|]); lra. }
  rewrite !numerator. unfold prior.
  pose proof (r_nonneg s s_in) as r_s. pose proof (r_nonneg s' s'_in) as r_s'.
  set (A := (1 - share) * of_seen (P_S J) s) in *. set (A' := (1 - share) * of_seen (P_S J) s') in *.
  assert (B : 0 <= share * r s) by (apply Rmult_le_pos; lra). assert (B' : 0 <= share * r s') by (apply Rmult_le_pos; lra).
  pose proof (seen_nonneg s) as A_nonneg. pose proof (seen_nonneg s') as A'_nonneg. fold A in A_nonneg. fold A' in A'_nonneg.
  pose proof (known s s') as first. fold A A' in first.
  pose proof (Rmult_le_compat_r (share * r s') _ _ B' (proj1 (half s))) as second. fold A in second.
  pose proof (Rmult_le_compat_r (share * r s) _ _ B (proj2 (half s'))) as third. fold A' in third.
  assert (fourth : share * r s * (share * r s') * U <= share * r s * (share * r s') * (e * U)).
  { apply Rmult_le_compat_l; [now apply Rmult_le_pos | nra]. }
  lra.
Qed.

Lemma prior_nonneg s : (s < k)%nat -> 0 <= prior s.
Proof.
  intros s_in. pose proof (r_nonneg s s_in). unfold prior, of_seen.
  destruct (Nat.ltb_spec s (secrets J)) as [within|]; [pose proof (P_S_pos J joint s within)|]; nra.
Qed.

(** E l'^a over all records, where E l^a <= B over those that are seen. *)
Lemma unseen_power alpha B :
  1 < alpha -> 0 < B -> mean J (fun s => power (l s) alpha) <= B ->
  power rho alpha <= B * (1 + alpha * (rho - 1)) ->
  mean_over k prior (fun s => power (p_sy s / (prior s * p_y)) alpha) <= B.
Proof.
  intros alpha_gt B_pos seen condition. pose proof p_y_pos as p_y_pos.
  assert (rho_pos : 0 < rho) by now apply Rdiv_lt_0_compat.
  set (d := p_y / P_Y J W y). assert (d_pos : 0 < d) by now apply Rdiv_lt_0_compat.
  assert (d_is : d = 1 + share * (rho - 1)) by (unfold d, p_y, rho; field; lra).
  assert (d_a : 0 < power d alpha) by now apply power_gt.
  assert (terms : forall s, (s < k)%nat ->
    prior s * power (p_sy s / (prior s * p_y)) alpha <=
    ((1 - share) * (if Nat.ltb s (secrets J) then P_S J s * power (l s) alpha else 0) +
     share * power rho alpha * r s) * / power d alpha).
  { intros s s_in. pose proof (r_nonneg s s_in) as r_s. pose proof (prior_nonneg s s_in) as prior_s.
    pose proof (power_nonneg rho alpha) as rho_a. pose proof (power_nonneg (l s) alpha) as l_a.
    assert (inverse : 0 < / power d alpha) by now apply Rinv_0_lt_compat.
    assert (right_nonneg : 0 <= (1 - share) * (if Nat.ltb s (secrets J) then P_S J s * power (l s) alpha else 0) +
      share * power rho alpha * r s).
    { destruct (Nat.ltb_spec s (secrets J)) as [within|].
      - pose proof (P_S_pos J joint s within).
        assert (0 <= P_S J s * power (l s) alpha) by (apply Rmult_le_pos; lra).
        assert (0 <= share * power rho alpha * r s) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra).
        assert (0 <= (1 - share) * (P_S J s * power (l s) alpha)) by (apply Rmult_le_pos; lra). lra.
      - assert (0 <= share * power rho alpha * r s) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra). lra. }
    destruct prior_s as [prior_pos|null].
    2: { rewrite <- null, Rmult_0_l. apply Rmult_le_pos; lra. }
    (* l' = (theta l + (1 - theta) rho) / d *)
    set (theta := (1 - share) * of_seen (P_S J) s / prior s).
    set (l_s := if Nat.ltb s (secrets J) then l s else 0).
    assert (l_s_nonneg : 0 <= l_s).
    { unfold l_s. destruct (Nat.ltb_spec s (secrets J)); [now apply lift_signs | lra]. }
    assert (seen_nonneg : 0 <= of_seen (P_S J) s).
    { unfold of_seen. destruct (Nat.ltb_spec s (secrets J)) as [within|]; [apply Rlt_le, P_S_pos; auto | lra]. }
    assert (theta_in : 0 <= theta <= 1).
    { assert (inverse_prior : 0 < / prior s) by now apply Rinv_0_lt_compat. split.
      - unfold theta. apply Rmult_le_pos; [apply Rmult_le_pos|]; lra.
      - apply (Rmult_le_reg_r (prior s)); [assumption|]. unfold theta, Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
        unfold prior. assert (0 <= share * r s) by (apply Rmult_le_pos; lra). lra. }
    assert (rest : 1 - theta = share * r s / prior s).
    { apply (Rmult_eq_reg_r (prior s)); [|lra]. unfold theta. field_simplify; [|lra|lra]. unfold prior. lra. }
    replace (p_sy s / (prior s * p_y)) with ((theta * l_s + (1 - theta) * rho) * / d).
    - rewrite power_mult.
      2: { apply Rplus_le_le_0_compat; apply Rmult_le_pos; lra. }
      2: { now apply Rlt_le, Rinv_0_lt_compat. }
      replace (power (/ d) alpha) with (/ power d alpha).
      2: { rewrite !power_pos by (try apply Rinv_0_lt_compat; assumption).
           rewrite ln_Rinv, <- exp_Ropp by assumption. f_equal. lra. }
      rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [lra|].
      apply Rle_trans with (prior s * (theta * power l_s alpha + (1 - theta) * power rho alpha)).
      + apply Rmult_le_compat_l; [lra|]. apply power_convex; lra.
      + right. rewrite rest. unfold theta, l_s, of_seen. destruct (Nat.ltb s (secrets J)); field; lra.
    - rewrite rest. unfold theta, d, rho, p_sy, l_s, of_seen.
      destruct (Nat.ltb_spec s (secrets J)) as [within|].
      + rewrite P_SY_lift by assumption. field. lra.
      + field. lra. }
  eapply Rle_trans; [apply sum_le; exact terms|].
  rewrite sum_scale_r, sum_plus, !sum_scale, (sum_seen _ _ (fun s => P_S J s * power (l s) alpha)) by assumption.
  rewrite r_total. change (sum (secrets J) _) with (mean J (fun s => power (l s) alpha)).
  apply (Rmult_le_reg_r (power d alpha)); [assumption|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  pose proof (bernoulli d alpha alpha_gt (Rlt_le _ _ d_pos)) as grows.
  apply Rle_trans with (B * (1 + alpha * (d - 1))); [|apply Rmult_le_compat_l; [now apply Rlt_le | exact grows]].
  apply (Rmult_le_compat_l share) in condition; [|lra].
  assert ((1 - share) * mean J (fun s => power (l s) alpha) <= (1 - share) * B) by (apply Rmult_le_compat_l; lra).
  rewrite d_is. lra.
Qed.

Theorem unseen_alpha alpha epsilon :
  1 < alpha -> mean J (fun s => power (l s) alpha) <= exp (alpha * epsilon) ->
  power rho alpha <= exp (alpha * epsilon) * (1 + alpha * (rho - 1)) ->
  allows_over k prior (AlphaLift alpha epsilon) (fun s => p_sy s / (prior s * p_y)).
Proof.
  intros alpha_gt seen condition. apply norm_below; [assumption| |].
  - apply sum_nonneg. intros s s_in. apply Rmult_le_pos; [now apply prior_nonneg | apply power_nonneg].
  - now apply unseen_power; auto using exp_pos.
Qed.

(** P(s, y) of all records vanishes with the prior, adds up to P(y), and is what the lifts say. *)
Lemma p_sy_is s : (s < k)%nat -> prior s * (p_sy s / (prior s * p_y)) = p_sy s / p_y.
Proof.
  intros s_in. pose proof p_y_pos as p_y_pos. destruct (prior_nonneg s s_in) as [positive|null]; [field; lra|].
  replace (p_sy s) with 0; [unfold Rdiv; lra|]. pose proof (r_nonneg s s_in) as r_s.
  assert (unknown : 0 <= share * r s) by (apply Rmult_le_pos; lra).
  unfold prior, p_sy, of_seen in *. destruct (Nat.ltb_spec s (secrets J)) as [within|].
  - pose proof (P_S_pos J joint s within). assert (0 <= (1 - share) * P_S J s) by (apply Rmult_le_pos; lra).
    assert (first : (1 - share) * P_S J s = 0) by lra. assert (second : share * r s = 0) by lra.
    rewrite P_SY_lift by assumption. rewrite <- !Rmult_assoc, first, second. lra.
  - assert (second : share * r s = 0) by lra. rewrite <- Rmult_assoc, second. lra.
Qed.

Lemma mean_l_1 : mean J l = 1.
Proof.
  unfold mean, mean_over. rewrite (sum_ext _ _ (fun s => P_S J s * lift_of J (posterior J W y) s)).
  - apply (mean_lift_1 J joint). now apply posterior_is.
  - intros s s_in. unfold l. now rewrite lift_of_posterior.
Qed.

Lemma p_sy_total : sum k p_sy = p_y.
Proof.
  unfold p_sy, p_y, of_seen. rewrite sum_plus, !sum_scale, (sum_seen _ _ (fun s => P_SY J W s y)), sum_scale_r, r_total by assumption.
  rewrite (sum_ext (secrets J) _ (fun s => P_S J s * l s * P_Y J W y)) by (intros; rewrite P_SY_lift by assumption; lra).
  rewrite sum_scale_r. change (sum (secrets J) (fun s => P_S J s * l s)) with (mean J l). rewrite mean_l_1. lra.
Qed.

Lemma prior_total : sum k prior = 1.
Proof.
  unfold prior, of_seen. rewrite sum_plus, !sum_scale, (sum_seen _ _ (P_S J)), r_total by assumption.
  destruct joint as (_ & _ & _ & ->). lra.
Qed.

Theorem unseen_chi epsilon :
  0 <= epsilon -> allows J (ChiSquare epsilon) l ->
  rho ^ 2 <= (1 + epsilon ^ 2) * (1 + 2 * (rho - 1)) ->
  allows_over k prior (ChiSquare epsilon) (fun s => p_sy s / (prior s * p_y)).
Proof.
  intros epsilon_nonneg seen condition. change (mean J (fun s => (l s - 1) ^ 2) <= epsilon ^ 2) in seen.
  assert (rho_pos : 0 < rho) by now apply Rdiv_lt_0_compat.
  assert (squares : forall t, 0 <= t -> power t 2 = t ^ 2).
  { intros t [t_pos| <-]; [|rewrite power_0; lra]. rewrite power_pos by assumption.
    replace (2 * ln t) with (ln t + ln t) by lra. rewrite exp_plus, exp_ln by assumption. lra. }
  pose proof p_y_pos as p_y_pos.
  assert (lifts_nonneg : forall s, (s < k)%nat -> 0 <= p_sy s / (prior s * p_y)).
  { intros s s_in. pose proof (prior_nonneg s s_in) as [positive|null].
    - assert (0 <= p_sy s).
      { unfold p_sy, of_seen. pose proof (r_nonneg s s_in).
        assert (0 <= share * (r s * U)) by (apply Rmult_le_pos; [lra | apply Rmult_le_pos; lra]).
        destruct (Nat.ltb_spec s (secrets J)) as [within|]; [|lra]. rewrite P_SY_lift by assumption.
        pose proof (P_S_pos J joint s within). pose proof (lift_signs s within).
        assert (0 <= (1 - share) * (P_S J s * (l s * P_Y J W y))); [|lra].
        apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; [now apply lift_signs | lra]. }
      apply Rmult_le_pos; [assumption|]. apply Rlt_le, Rinv_0_lt_compat. now apply Rmult_lt_0_compat.
    - rewrite <- null, Rmult_0_l. unfold Rdiv. rewrite Rinv_0. lra. }
  pose proof (unseen_power 2 (1 + epsilon ^ 2) ltac:(lra) ltac:(pose proof (pow2_ge_0 epsilon); lra)) as bound.
  assert (second : mean J (fun s => power (l s) 2) <= 1 + epsilon ^ 2).
  { rewrite (mean_same J _ (fun s => (l s - 1) ^ 2 + (2 * l s + -1))).
    - rewrite !mean_plus, mean_scale, mean_const by assumption. change (mean J (fun s => l s)) with (mean J l).
      rewrite mean_l_1. lra.
    - intros s s_in. rewrite squares by now apply lift_signs. lra. }
  rewrite squares in bound by lra. specialize (bound second condition).
  simpl. unfold mean_over in *.
  rewrite (sum_ext k _ (fun s => prior s * power (p_sy s / (prior s * p_y)) 2 + (-2 * (p_sy s / p_y) + prior s))).
  - rewrite !sum_plus, sum_scale, prior_total. unfold Rdiv at 2. rewrite sum_scale_r, p_sy_total.
    replace (p_y * / p_y) with 1 by (field; lra). simpl in bound. lra.
  - intros s s_in. rewrite squares by auto. rewrite <- p_sy_is by assumption. lra.
Qed.

Theorem unseen_TV epsilon :
  0 <= epsilon -> allows J (TotalVariation epsilon) l -> Rabs (rho - 1) <= epsilon * rho ->
  allows_over k prior (TotalVariation epsilon) (fun s => p_sy s / (prior s * p_y)).
Proof.
  intros epsilon_nonneg seen condition. change (mean J (fun s => Rabs (l s - 1)) / 2 <= epsilon) in seen.
  pose proof p_y_pos as p_y_pos. assert (rho_pos : 0 < rho) by now apply Rdiv_lt_0_compat.
  set (d := p_y / P_Y J W y). assert (d_pos : 0 < d) by now apply Rdiv_lt_0_compat.
  assert (d_is : d = 1 + share * (rho - 1)) by (unfold d, p_y, rho; field; lra).
  assert (terms : forall s, (s < k)%nat -> prior s * Rabs (p_sy s / (prior s * p_y) - 1) <=
    ((1 - share) * (if Nat.ltb s (secrets J) then P_S J s * Rabs (l s - 1) else 0) +
     Rabs (rho - 1) * share * (1 - share) * (r s + (if Nat.ltb s (secrets J) then P_S J s else 0))) * / d).
  { intros s s_in. pose proof (prior_nonneg s s_in) as prior_s. pose proof (r_nonneg s s_in) as r_s.
    assert (inverse : 0 < / d) by now apply Rinv_0_lt_compat.
    rewrite <- (Rabs_pos_eq (prior s)) at 1 by assumption. rewrite <- Rabs_mult, Rmult_minus_distr_l, p_sy_is by assumption.
    replace (p_sy s / p_y - prior s * 1) with
      (((1 - share) * (if Nat.ltb s (secrets J) then P_S J s * (l s - 1) else 0) +
        (rho - 1) * (share * (1 - share) * (r s - (if Nat.ltb s (secrets J) then P_S J s else 0)))) * / d).
    - rewrite Rabs_mult, (Rabs_pos_eq (/ d)) by lra. apply Rmult_le_compat_r; [lra|].
      eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat.
      + rewrite Rabs_mult, Rabs_pos_eq by lra. apply Rmult_le_compat_l; [lra|].
        destruct (Nat.ltb_spec s (secrets J)) as [within|]; [|rewrite Rabs_R0; lra].
        pose proof (P_S_pos J joint s within). rewrite Rabs_mult, Rabs_pos_eq; lra.
      + rewrite !Rmult_assoc, Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos|].
        rewrite <- !Rmult_assoc, Rabs_mult, Rabs_pos_eq by (apply Rmult_le_pos; lra).
        apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|].
        destruct (Nat.ltb_spec s (secrets J)) as [within|]; [pose proof (P_S_pos J joint s within)|];
          apply Rabs_le; lra.
    - unfold d, prior, p_sy, of_seen, rho. destruct (Nat.ltb_spec s (secrets J)) as [within|].
      + rewrite P_SY_lift by assumption. unfold p_y. field. split; [exact (Rgt_not_eq _ _ p_y_pos) | lra].
      + unfold p_y. field. split; [exact (Rgt_not_eq _ _ p_y_pos) | lra]. }
  simpl. unfold mean_over.
  assert (sum k (fun s => prior s * Rabs (p_sy s / (prior s * p_y) - 1)) <= 2 * epsilon); [|lra].
  eapply Rle_trans; [apply sum_le; exact terms|].
  rewrite sum_scale_r, sum_plus, !sum_scale, sum_plus, r_total.
  rewrite (sum_seen _ _ (fun s => P_S J s * Rabs (l s - 1))), (sum_seen _ _ (P_S J)) by assumption.
  destruct joint as (_ & _ & _ & ->). change (sum (secrets J) _) with (mean J (fun s => Rabs (l s - 1))).
  apply (Rmult_le_reg_r d); [assumption|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. rewrite d_is.
  assert ((1 - share) * mean J (fun s => Rabs (l s - 1)) <= (1 - share) * (2 * epsilon)) by (apply Rmult_le_compat_l; lra).
  assert (Rabs (rho - 1) * share * (1 - share) * 2 <= share * (epsilon * rho) * 2).
  { pose proof (Rabs_pos (rho - 1)).
    assert (Rabs (rho - 1) * share * (1 - share) <= Rabs (rho - 1) * share) by nra.
    assert (share * Rabs (rho - 1) <= share * (epsilon * rho)) by (apply Rmult_le_compat_l; lra). lra. }
  lra.
Qed.

Theorem unseen_KL epsilon :
  0 <= epsilon -> allows J (KL epsilon) l -> rho * ln rho - rho + 1 <= epsilon * rho ->
  allows_over k prior (KL epsilon) (fun s => p_sy s / (prior s * p_y)).
Proof.
  intros epsilon_nonneg seen condition. change (mean J (fun s => l s * ln (l s)) <= epsilon) in seen.
  pose proof p_y_pos as p_y_pos. assert (rho_pos : 0 < rho) by now apply Rdiv_lt_0_compat.
  set (d := p_y / P_Y J W y). assert (d_pos : 0 < d) by now apply Rdiv_lt_0_compat.
  assert (d_is : d = 1 + share * (rho - 1)) by (unfold d, p_y, rho; field; lra).
  assert (inverse : 0 < / d) by now apply Rinv_0_lt_compat.
  (* a = d l' is the mean of l, of weight A, and of rho, of weight B: its a log a is below theirs. *)
  assert (convex : forall A B x a, 0 <= A -> 0 <= B -> 0 <= x -> 0 <= a -> (A + B) * a = A * x + B * rho ->
    (A + B) * (a * ln a) <= A * (x * ln x) + B * (rho * ln rho)).
  { intros A B x a A_nonneg B_nonneg x_nonneg [a_pos|null] is_mean.
    - pose proof (gibbs x a x_nonneg a_pos) as first. pose proof (gibbs rho a (Rlt_le _ _ rho_pos) a_pos) as second.
      apply (Rmult_le_compat_l A) in first; [|assumption]. apply (Rmult_le_compat_l B) in second; [|assumption].
      assert ((A + B) * (a * ln a) = (A * x + B * rho) * ln a) by (rewrite <- is_mean; lra). lra.
    - rewrite <- null, Rmult_0_r in is_mean. assert (0 <= A * x) by now apply Rmult_le_pos.
      assert (0 <= B * rho) by (apply Rmult_le_pos; lra).
      assert (none : A * x = 0) by lra. assert (B = 0) as -> by nra.
      rewrite <- null. rewrite <- (Rmult_assoc A), none. lra. }
  assert (terms : forall s, (s < k)%nat ->
    prior s * (p_sy s / (prior s * p_y) * ln (p_sy s / (prior s * p_y))) <=
    ((1 - share) * (if Nat.ltb s (secrets J) then P_S J s * (l s * ln (l s)) else 0) + share * (rho * ln rho) * r s) * / d +
    - ln d * (p_sy s * / p_y)).
  { intros s s_in. pose proof (prior_nonneg s s_in) as prior_s. pose proof (r_nonneg s s_in) as r_s.
    set (A := (1 - share) * (if Nat.ltb s (secrets J) then P_S J s else 0)). set (B := share * r s).
    set (x := if Nat.ltb s (secrets J) then l s else 0).
    assert (A_nonneg : 0 <= A).
    { unfold A. destruct (Nat.ltb_spec s (secrets J)) as [within|]; [pose proof (P_S_pos J joint s within)|];
        apply Rmult_le_pos; lra. }
    assert (B_nonneg : 0 <= B) by (apply Rmult_le_pos; lra).
    assert (x_nonneg : 0 <= x) by (unfold x; destruct (Nat.ltb_spec s (secrets J)); [now apply lift_signs | lra]).
    assert (prior_is : prior s = A + B) by reflexivity.
    assert (right_is : (1 - share) * (if Nat.ltb s (secrets J) then P_S J s * (l s * ln (l s)) else 0) +
      share * (rho * ln rho) * r s = A * (x * ln x) + B * (rho * ln rho)).
    { unfold A, B, x. destruct (Nat.ltb s (secrets J)); lra. }
    assert (numerator : p_sy s = (A * x + B * rho) * P_Y J W y).
    { unfold p_sy, of_seen, A, B, x, rho. destruct (Nat.ltb_spec s (secrets J)) as [within|].
      - rewrite P_SY_lift by assumption. field. lra.
      - field. lra. }
    rewrite right_is. destruct prior_s as [positive|null].
    - set (a := (A * x + B * rho) / (A + B)). rewrite prior_is in positive.
      assert (a_nonneg : 0 <= a).
      { apply Rmult_le_pos; [|now apply Rlt_le, Rinv_0_lt_compat].
        apply Rplus_le_le_0_compat; apply Rmult_le_pos; lra. }
      assert (is_mean : (A + B) * a = A * x + B * rho) by (unfold a; field; lra).
      assert (lift_is : p_sy s / (prior s * p_y) = a * / d).
      { rewrite numerator, prior_is. unfold a, d. field. repeat split; try lra; exact (Rgt_not_eq _ _ p_y_pos). }
      assert (share_is : p_sy s * / p_y = (A + B) * a * / d).
      { rewrite is_mean, numerator. unfold d. field. repeat split; try lra; exact (Rgt_not_eq _ _ p_y_pos). }
      rewrite lift_is, share_is, prior_is.
      pose proof (convex A B x a A_nonneg B_nonneg x_nonneg a_nonneg is_mean) as below.
      apply (Rmult_le_compat_r (/ d)) in below; [|lra].
      destruct a_nonneg as [a_pos|a_null].
      + rewrite ln_mult, ln_Rinv by assumption. lra.
      + rewrite <- a_null in *. lra.
    - rewrite <- null in prior_is. assert (A = 0) as A_null by lra. assert (B = 0) as B_null by lra.
      rewrite numerator, A_null, B_null, <- null. lra. }
  simpl. unfold mean_over. eapply Rle_trans; [apply sum_le; exact terms|].
  rewrite sum_plus, sum_scale, !sum_scale_r, p_sy_total, sum_plus, !sum_scale, r_total.
  rewrite (sum_seen _ _ (fun s => P_S J s * (l s * ln (l s)))) by assumption.
  change (sum (secrets J) _) with (mean J (fun s => l s * ln (l s))).
  replace (p_y * / p_y) with 1 by (field; exact (Rgt_not_eq _ _ p_y_pos)).
  apply (Rmult_le_reg_r d); [assumption|]. rewrite Rmult_plus_distr_r, (Rmult_assoc _ (/ d)), Rinv_l by lra.
  pose proof (gibbs d 1 (Rlt_le _ _ d_pos) Rlt_0_1) as grows. rewrite ln_1 in grows.
  apply (Rmult_le_compat_l share) in condition; [|lra].
  assert ((1 - share) * mean J (fun s => l s * ln (l s)) <= (1 - share) * epsilon) by (apply Rmult_le_compat_l; lra).
  rewrite d_is in *. lra.
Qed.

End Output.

Section File.
Variable f : file.
Hypothesis formed : well_formed f = true.
Hypothesis promise : promise_holds f = true.
Hypothesis ok : unseen_holds f = true.

Let J := joint_of f.
Let W := mechanism_of f.

Lemma ratio_is y answer :
  (y < length (weights f))%nat -> let rho := ratio_of f (nth y (rows f) []) answer in
  0 < IZR (snd rho) /\ IZR answer / IZR (two (bits f)) / P_Y J W y = IZR (fst rho) / IZR (snd rho).
Proof.
  intros y_in rho. pose proof (occur f promise y y_in) as occurs. apply IZR_lt in occurs. split; [exact occurs|].
  pose proof (two_pos (bits f)). pose proof (N_pos f formed). unfold J, W. rewrite P_Y_is by assumption.
  unfold rho, ratio_of. cbn [fst snd]. rewrite mult_IZR. field. lra.
Qed.

Lemma norm_answers_is y U alpha budget rho :
  1 < number alpha -> 0 <= eval budget -> (0 < snd rho)%Z -> U / P_Y J W y = ratio rho -> 0 < ratio rho ->
  (fst rho =? snd rho)%Z || norm_answers f alpha budget rho = true ->
  power (U / P_Y J W y) (number alpha) <= exp (number alpha * eval budget) * (1 + number alpha * (U / P_Y J W y - 1)).
Proof.
  intros alpha_gt budget_nonneg snd_pos -> rho_pos holds. apply IZR_lt in snd_pos as snd_pos'.
  apply orb_true_iff in holds as [same|holds].
  - apply Z.eqb_eq in same. replace (ratio rho) with 1 by (unfold ratio; rewrite same; field; lra).
    rewrite power_pos, ln_1, Rmult_0_r, exp_0 by lra.
    assert (1 <= exp (number alpha * eval budget)) by (apply exp_ge_1; nra). lra.
  - apply decide_sound in holds. rewrite !eval_Sub in holds. cbn [eval] in holds. rewrite eval_Sub in holds.
    cbn [eval] in holds. change (eval (exactly alpha)) with (number alpha) in holds.
    change (IZR (fst rho) / IZR (snd rho)) with (ratio rho) in holds. rewrite power_pos by assumption. lra.
Qed.

Theorem unseen_kept answers :
  unseen f = Some answers -> keeps_unseen J (promise_of (region f)) W (answers_of f answers).
Proof.
  intros answered share k r share_in more r_nonneg r_total of_seen prior p_y p_sy y y_in _.
  pose proof (J_is_joint f formed) as joint. pose proof (W_is_mechanism f formed) as mech.
  destruct (promise_kept f formed promise) as [_ kept].
  change (y < length (weights f))%nat in y_in. pose proof (occur f promise y y_in) as occurs'.
  assert (occurs : 0 < P_Y J W y).
  { unfold J, W. rewrite P_Y_is by assumption. apply Rdiv_lt_0_compat; [now apply IZR_lt|].
    apply Rmult_lt_0_compat; [now apply N_pos | apply two_pos]. }
  specialize (kept y y_in occurs).
  unfold unseen_holds in ok. rewrite answered in ok. repeat rewrite andb_true_iff in ok.
  destruct ok as ((answers_n & _) & each). apply Nat.eqb_eq in answers_n. rewrite forallb_forall in each.
  assert (rows_n : length (rows f) = length (weights f)) by (unfold rows; apply map_length).
  assert (holds : answer_holds f (nth y (rows f) []) (nth y answers 0%Z) = true).
  { apply each. rewrite <- (map2_nth (answer_holds f) (rows f) answers y [] 0%Z false) by lia.
    apply nth_In. rewrite map2_length; lia. }
  clear each. set (answer := nth y answers 0%Z) in *. unfold answer_holds in holds. cbv zeta in holds.
  apply andb_true_iff in holds as [above holds]. apply Z.ltb_lt, IZR_lt in above.
  pose proof (two_pos (bits f)) as unit_pos.
  assert (U_pos : 0 < answers_of f answers y) by now apply Rdiv_lt_0_compat.
  destruct (ratio_is y answer y_in) as [below_pos is_rho].
  change (IZR answer / IZR (two (bits f))) with (answers_of f answers y) in is_rho.
  set (rho := ratio_of f (nth y (rows f) []) answer) in *. change (IZR (fst rho) / IZR (snd rho)) with (ratio rho) in is_rho.
  assert (rho_pos : 0 < ratio rho).
  { rewrite <- is_rho. now apply Rdiv_lt_0_compat. }
  assert (snd_pos : (0 < snd rho)%Z) by now apply lt_IZR.
  assert (fst_nonneg : (0 <= fst rho)%Z).
  { apply le_IZR. unfold ratio in rho_pos. apply (Rmult_lt_compat_r (IZR (snd rho))) in rho_pos; [|assumption].
    unfold Rdiv in rho_pos. rewrite Rmult_assoc, Rinv_l in rho_pos by lra. lra. }
  assert (same_or : ratio rho = 1 \/ (fst rho =? snd rho)%Z = false).
  { destruct (Z.eqb_spec (fst rho) (snd rho)) as [same|]; [left | now right].
    unfold ratio. rewrite same. field. lra. }
  assert (each_lift : forall (P : R -> Prop), (forall own, In own (lifts_of f (nth y (rows f) [])) ->
    (0 <= fst own)%Z -> (0 < snd own)%Z -> P (ratio own)) -> forall s, (s < secrets J)%nat -> P (lift J W y s)).
  { intros P all s s_in. destruct (own_lift f formed y s y_in s_in occurs') as (own & member & nonneg & positive & is_own).
    unfold J, W. rewrite is_own. auto. }
  assert (one_or : ratio rho = 1 \/ forall e : expr,
    (fst rho =? snd rho)%Z || decide (precisions (bits f)) e = true -> 0 <= eval e).
  { destruct same_or as [one|other]; [now left | right]. intros e decided. rewrite other in decided.
    now apply decide_sound in decided. }
  assert (bounds_or : forall region, (fst rho =? snd rho)%Z ||
    existsb (answered_at region rho (lifts_of f (nth y (rows f) []))) [128; 1024; 8192]%Z = true ->
    ratio rho = 1 \/ exists k, (0 <= k)%Z /\ answered_at region rho (lifts_of f (nth y (rows f) [])) k = true).
  { intros region found. destruct same_or as [one|other]; [now left | right]. rewrite other in found.
    apply existsb_exists in found as (b & b_in & found). exists b. split; [now apply precision_nonneg | exact found]. }
  assert (hold : parameters_hold (region f) = true)
    by (unfold promise_holds in promise; now apply andb_true_iff in promise as [hold _]).
  clear ok. revert hold kept holds.
  induction (region f) as [epsilon | alpha epsilon | lower upper | epsilon | epsilon | epsilon | epsilon | order epsilon
    | first IH second IH']; intros hold kept holds; destruct (region_parameters _ hold) as [proper budget];
    cbn [region_answers promise_of is_promise has_budget] in *;
    try (apply bounds_or in holds as proven; unfold answered_at in proven).
  - apply (unseen_max J W y (answers_of f answers y)); try assumption; rewrite is_rho.
    + destruct proven as [->|(b & b_nonneg & found)]; [now apply exp_ge_1|].
      destruct (exp_below (exactly epsilon) b) as [e|] eqn:is_e; [|discriminate]. apply andb_true_iff in found as [found _].
      apply (at_most_is b _ e rho (1, 1)%Z b_nonneg is_e snd_pos eq_refl ltac:(simpl; lia)) in found.
      rewrite ratio_1, Rmult_1_r in found. exact found.
    + destruct proven as [one|(b & b_nonneg & found)].
      { intros s s_in. rewrite one, Rmult_1_r. apply kept; [assumption | apply P_S_pos; assumption]. }
      destruct (exp_below (exactly epsilon) b) as [e|] eqn:is_e; [|discriminate]. apply andb_true_iff in found as [_ found].
      rewrite forallb_forall in found.
      apply (each_lift (fun l => l <= exp (number epsilon) * ratio rho)). intros own member nonneg positive.
      exact (at_most_is b _ e own rho b_nonneg is_e positive snd_pos fst_nonneg (found own member)).
  - apply (unseen_alpha J W y (answers_of f answers y)); try assumption.
    + apply norm_above; [assumption | | exact kept].
      apply mean_nonneg; [assumption|]. intros; apply power_nonneg.
    + now apply (norm_answers_is y _ alpha (exactly epsilon) rho).
  - destruct budget as [lower_nonneg upper_nonneg].
    assert (bounds : ratio rho = 1 \/ exists b e c, (0 <= b)%Z /\ exp_below (exactly upper) b = Some e /\
      exp_above (Neg (exactly lower)) b = Some c /\
      at_most_times (2 ^ b) e rho (1, 1)%Z = true /\ at_least_times (2 ^ b) c rho (1, 1)%Z = true /\
      forall own, In own (lifts_of f (nth y (rows f) [])) ->
        at_most_times (2 ^ b) e own rho = true /\ at_least_times (2 ^ b) c own rho = true).
    { destruct proven as [one|(b & b_nonneg & found)]; [now left | right].
      destruct (exp_below (exactly upper) b) as [e|] eqn:is_e; [|discriminate].
      destruct (exp_above (Neg (exactly lower)) b) as [c|] eqn:is_c; [|discriminate].
      repeat rewrite andb_true_iff in found. destruct found as ((below & over) & each). rewrite forallb_forall in each.
      exists b, e, c. repeat split; try assumption; apply each in H; apply andb_true_iff in H; tauto. }
    apply (unseen_LIP J W y (answers_of f answers y)); try assumption; rewrite is_rho.
    + destruct bounds as [->|(b & e & c & b_nonneg & is_e & is_c & below & over & _)].
      { split; [rewrite <- exp_0; apply exp_le; lra | now apply exp_ge_1]. }
      apply (at_most_is b _ e rho (1, 1)%Z b_nonneg is_e snd_pos eq_refl ltac:(simpl; lia)) in below.
      apply (at_least_is b _ c rho (1, 1)%Z b_nonneg is_c snd_pos eq_refl ltac:(simpl; lia)) in over.
      rewrite ratio_1, Rmult_1_r in below, over. rewrite eval_Neg in over. split; [exact over | exact below].
    + destruct bounds as [one|(b & e & c & b_nonneg & is_e & is_c & _ & _ & each)].
      { intros s s_in. rewrite one, !Rmult_1_r. apply kept; [assumption | apply P_S_pos; assumption]. }
      apply (each_lift (fun l => exp (- number lower) * ratio rho <= l <= exp (number upper) * ratio rho)).
      intros own member nonneg positive. destruct (each own member) as [below over].
      apply (at_most_is b _ e own rho b_nonneg is_e positive snd_pos fst_nonneg) in below.
      apply (at_least_is b _ c own rho b_nonneg is_c positive snd_pos fst_nonneg) in over.
      rewrite eval_Neg in over. split; [exact over | exact below].
  - apply (unseen_LDP J W y (answers_of f answers y)); try assumption. rewrite is_rho.
    destruct proven as [one|(b & b_nonneg & found)].
    + (* l = 1 lies between the least and the largest lift *)
      intros s s_in. rewrite one, Rmult_1_r.
      assert (mean_1 : mean J (lift J W y) = 1).
      { unfold mean, mean_over. rewrite (sum_ext _ _ (fun s => P_S J s * lift_of J (posterior J W y) s)).
        - apply (mean_lift_1 J joint). now apply posterior_is.
        - intros t t_in. now rewrite lift_of_posterior. }
      assert (total : mean J (fun _ => 1) = 1).
      { unfold mean, mean_over. rewrite (sum_ext _ _ (P_S J)) by (intros; lra). apply joint. }
      split.
      * assert (below : mean J (fun _ => lift J W y s * 1) <= mean J (fun t => exp (number epsilon) * lift J W y t)).
        { apply mean_le; [assumption|]. intros t t_in. rewrite Rmult_1_r. apply kept; auto; apply P_S_pos; assumption. }
        rewrite !mean_scale, total, mean_1 in below. lra.
      * assert (below : mean J (fun t => lift J W y t) <= mean J (fun _ => exp (number epsilon) * lift J W y s * 1)).
        { apply mean_le; [assumption|]. intros t t_in. rewrite Rmult_1_r. apply kept; auto; apply P_S_pos; assumption. }
        rewrite mean_scale, total in below. change (mean J (fun t => lift J W y t)) with (mean J (lift J W y)) in below. lra.
    + destruct (exp_below (exactly epsilon) b) as [e|] eqn:is_e; [|discriminate]. rewrite forallb_forall in found.
      apply (each_lift (fun l => l <= exp (number epsilon) * ratio rho /\ ratio rho <= exp (number epsilon) * l)).
      intros own member nonneg positive. specialize (found own member). apply andb_true_iff in found as [below above'].
      split.
      * exact (at_most_is b _ e own rho b_nonneg is_e positive snd_pos fst_nonneg below).
      * exact (at_most_is b _ e rho own b_nonneg is_e snd_pos positive nonneg above').
  - apply (unseen_TV J W y (answers_of f answers y)); try assumption. rewrite is_rho.
    destruct same_or as [->|other]; [rewrite Rminus_diag_eq, Rabs_R0 by reflexivity; lra|]. rewrite other in holds.
    destruct (distance_is rho snd_pos) as [positive is_distance]. pose proof (scale_pos epsilon) as scale_pos.
    apply not_above_is in holds; [|assumption | now apply Z.mul_pos_pos]. rewrite is_distance in holds.
    eapply Rle_trans; [exact holds|]. right. apply IZR_lt in scale_pos.
    unfold ratio, number. cbn [fst snd]. rewrite !mult_IZR. field. lra.
  - apply (unseen_chi J W y (answers_of f answers y)); try assumption. rewrite is_rho.
    destruct same_or as [->|other]; [pose proof (pow2_ge_0 (number epsilon)); lra|]. rewrite other in holds.
    pose proof (scale_pos epsilon) as scale_pos. unfold squared in holds. cbv zeta in holds.
    apply not_above_is in holds; [|now apply Z.mul_pos_pos | repeat apply Z.mul_pos_pos; assumption].
    apply IZR_lt in scale_pos. unfold ratio in holds. cbn [fst snd] in holds. rewrite !mult_IZR in holds.
    unfold ratio, number. eapply Rle_trans; [|eapply Rle_trans; [exact holds|]]; right.
    + field. lra.
    + rewrite plus_IZR, minus_IZR, !mult_IZR. field. lra.
  - apply (unseen_KL J W y (answers_of f answers y)); try assumption. rewrite is_rho.
    destruct one_or as [->|decided]; [rewrite ln_1; lra|].
    cbv zeta in holds. apply decided in holds. rewrite !eval_Sub in holds. cbn [eval] in holds.
    change (eval (exactly epsilon)) with (number epsilon) in holds. unfold ratio in *. lra.
  - apply andb_true_iff in hold as [order_gt _]. pose proof (norm_budget_is order epsilon order_gt) as is_budget.
    assert (budget_nonneg : 0 <= eval (norm_budget order epsilon)).
    { rewrite is_budget. unfold Rdiv. apply Rmult_le_pos; [apply Rmult_le_pos; lra | apply Rlt_le, Rinv_0_lt_compat; lra]. }
    assert (same_budget : number order * eval (norm_budget order epsilon) = (number order - 1) * number epsilon)
      by (rewrite is_budget; field; lra).
    change (mean J (fun s => power (lift J W y s) (number order)) <= exp ((number order - 1) * number epsilon)) in kept.
    rewrite <- same_budget in kept.
    pose proof (norm_answers_is y _ order _ rho proper budget_nonneg snd_pos is_rho rho_pos holds) as condition.
    simpl. rewrite <- same_budget. apply (unseen_power J W y (answers_of f answers y)); auto using exp_pos.
  - apply andb_true_iff in hold as [hold hold']. destruct kept as [kept kept'].
    assert (parts : forall a b c : bool, a || (b && c) = true -> a || b = true /\ a || c = true) by (intros [] [] []; auto).
    apply parts in holds as [holds holds']. split; [now apply IH | now apply IH'].
Qed.

End File.
