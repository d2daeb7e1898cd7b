(** The support function: E[w l] <= sigma(w) for all lifts l that a promise allows (docs/theory.md, step 6). *)

From Coq Require Import Reals Lra Lia.
From Alphalift Require Import Sums Problem Entropy Duality Powers.
Open Scope R_scope.

Definition positive_part (w : R) : R := Rmax w 0.

Fixpoint is_promise (q : promise) : Prop :=
  match q with
  | AlphaLift order _ | Renyi order _ => 1 < order
  | Both first second => is_promise first /\ is_promise second
  | _ => True
  end.

(** Renyi's divergence is alpha-lift on another scale. *)
Lemma renyi_is_alpha k prior order epsilon l :
  1 < order -> 0 <= mean_over k prior (fun s => power (l s) order) ->
  allows_over k prior (Renyi order epsilon) l <->
  allows_over k prior (AlphaLift order (epsilon * (order - 1) / order)) l.
Proof.
  intros order_gt nonneg. simpl.
  replace ((order - 1) * epsilon) with (order * (epsilon * (order - 1) / order)) by (field; lra).
  split; [now apply norm_below | now apply norm_above].
Qed.

(** Whether v is at least E[w l] for every allowed l. *)
Definition supports (J : joint) (q : promise) (w : nat -> R) (v : R) : Prop :=
  forall l, (forall s, (s < secrets J)%nat -> 0 <= l s) -> mean J l = 1 -> allows J q l ->
  mean J (fun s => w s * l s) <= v.

Section Joint.
Variable J : joint.
Hypothesis J_is_joint : is_joint J.

Lemma mean_le f g : (forall s, (s < secrets J)%nat -> f s <= g s) -> mean J f <= mean J g.
Proof.
  intros below. apply sum_le. intros s inside. pose proof (P_S_pos J J_is_joint s inside).
  apply Rmult_le_compat_l; [lra | auto].
Qed.

Lemma mean_nonneg f : (forall s, (s < secrets J)%nat -> 0 <= f s) -> 0 <= mean J f.
Proof.
  intros signs. apply sum_nonneg. intros s inside. pose proof (P_S_pos J J_is_joint s inside).
  apply Rmult_le_pos; [lra | auto].
Qed.

Lemma mean_scale c f : mean J (fun s => c * f s) = c * mean J f.
Proof. unfold mean, mean_over. rewrite <- sum_scale. apply sum_ext. intros; lra. Qed.

Lemma mean_plus f g : mean J (fun s => f s + g s) = mean J f + mean J g.
Proof. unfold mean, mean_over. rewrite <- sum_plus. apply sum_ext. intros; lra. Qed.

Lemma positive_part_nonneg w : 0 <= positive_part w.
Proof. apply Rmax_r. Qed.

Lemma only_the_positive_part w l :
  (forall s, (s < secrets J)%nat -> 0 <= l s) ->
  mean J (fun s => w s * l s) <= mean J (fun s => positive_part (w s) * l s).
Proof.
  intros signs. apply mean_le. intros s inside. apply Rmult_le_compat_r; [auto | apply Rmax_l].
Qed.

(** Hoelder's inequality for means, with a bound k > 0 for the norm of l. *)
Lemma hoelder w l a k :
  1 < a -> 0 < k ->
  (forall s, (s < secrets J)%nat -> 0 <= w s) -> (forall s, (s < secrets J)%nat -> 0 <= l s) ->
  power (mean J (fun s => power (l s) a)) (1 / a) <= k ->
  mean J (fun s => w s * l s) <= k * power (mean J (fun s => power (w s) (conjugate a))) (/ conjugate a).
Proof.
  intros a_gt k_pos w_signs l_signs l_norm.
  set (b := conjugate a). assert (b_gt : 1 < b) by now apply conjugate_gt.
  set (B := mean J (fun s => power (w s) b)).
  assert (B_nonneg : 0 <= B) by (apply mean_nonneg; intros; apply power_nonneg).
  assert (l_mean : mean J (fun s => power (l s) a) <= power k a).
  { replace (mean J (fun s => power (l s) a)) with (power (power (mean J (fun s => power (l s) a)) (1 / a)) a).
    - apply power_le; [lra|]. split; [apply power_nonneg | assumption].
    - assert (0 <= mean J (fun s => power (l s) a)) by (apply mean_nonneg; intros; apply power_nonneg).
      rewrite power_power by assumption. replace (1 / a * a) with 1 by (field; lra). now apply power_1. }
  destruct B_nonneg as [B_pos|B_null].
  - set (M := power B (/ b)). assert (M_pos : 0 < M) by now apply power_gt.
    assert (M_b : power M b = B).
    { unfold M. rewrite power_power by lra. replace (/ b * b) with 1 by (field; lra). apply power_1; lra. }
    assert (scaled : mean J (fun s => (l s * / k) * (w s * / M)) <= 1).
    { apply Rle_trans with (mean J (fun s =>
        / a * / power k a * power (l s) a + / b * / power M b * power (w s) b)).
      - apply mean_le. intros s inside.
        assert (0 < / k) by now apply Rinv_0_lt_compat. assert (0 < / M) by now apply Rinv_0_lt_compat.
        eapply Rle_trans; [apply (young _ _ a a_gt); apply Rmult_le_pos; try lra; auto|].
        rewrite !power_mult by (try lra; auto).
        assert (inverse : forall t c, 0 < t -> power (/ t) c = / power t c).
        { intros t c t_pos. rewrite !power_pos by (try apply Rinv_0_lt_compat; assumption).
          rewrite ln_Rinv by assumption. rewrite <- exp_Ropp. f_equal. lra. }
        rewrite !inverse by assumption. fold b. lra.
      - rewrite mean_plus, !mean_scale. fold B. rewrite M_b.
        assert (k_a : 0 < power k a) by now apply power_gt.
        replace (/ b * / B * B) with (/ b) by (field; lra).
        unfold b at 1. rewrite conjugate_inv by assumption.
        assert (/ power k a * mean J (fun s => power (l s) a) <= 1).
        { apply (Rmult_le_reg_l (power k a)); [assumption|]. rewrite <- Rmult_assoc, Rinv_r by lra. lra. }
        assert (0 < / a) by (apply Rinv_0_lt_compat; lra).
        rewrite Rmult_assoc. nra. }
    replace (mean J (fun s => w s * l s)) with (k * M * mean J (fun s => (l s * / k) * (w s * / M))).
    + assert (0 < k * M) by now apply Rmult_lt_0_compat. nra.
    + rewrite <- mean_scale. unfold mean, mean_over. apply sum_ext. intros s inside. field. lra.
  - assert (null : forall s, (s < secrets J)%nat -> w s = 0).
    { intros s inside. destruct (w_signs s inside) as [above|<-]; [|reflexivity]. exfalso.
      pose proof (P_S_pos J J_is_joint s inside).
      assert (0 < B).
      { apply (sum_pos _ _ s inside).
        - intros j j_in. pose proof (P_S_pos J J_is_joint j j_in).
          apply Rmult_le_pos; [lra | apply power_nonneg].
        - apply Rmult_lt_0_compat; [assumption | now apply power_gt]. }
      lra. }
    replace (mean J (fun s => w s * l s)) with 0.
    + apply Rmult_le_pos; [lra | apply power_nonneg].
    + unfold mean, mean_over. rewrite (sum_ext _ _ (fun _ => 0)), sum_zero; [reflexivity|].
      intros s inside. rewrite null by assumption. lra.
Qed.

Theorem support_max epsilon w :
  supports J (MaxLift epsilon) w (exp epsilon * mean J (fun s => positive_part (w s))).
Proof.
  intros l signs _ allowed. eapply Rle_trans; [now apply only_the_positive_part|].
  rewrite <- mean_scale. apply mean_le. intros s inside. rewrite (Rmult_comm (exp epsilon)).
  apply Rmult_le_compat_l; [apply positive_part_nonneg | apply allowed; auto using P_S_pos].
Qed.

Theorem support_alpha alpha epsilon w :
  1 < alpha ->
  supports J (AlphaLift alpha epsilon) w
    (exp epsilon * power (mean J (fun s => power (positive_part (w s)) (conjugate alpha))) (/ conjugate alpha)).
Proof.
  intros alpha_gt l signs _ allowed. eapply Rle_trans; [now apply only_the_positive_part|].
  apply hoelder; auto using exp_pos, positive_part_nonneg.
Qed.

Theorem support_LIP lower upper w :
  supports J (LIP lower upper) w
    (exp upper * mean J (fun s => positive_part (w s)) - exp (- lower) * mean J (fun s => positive_part (- w s))).
Proof.
  intros l signs _ allowed.
  apply Rle_trans with (mean J (fun s =>
    exp upper * positive_part (w s) + - exp (- lower) * positive_part (- w s))).
  - apply mean_le. intros s inside.
    destruct (allowed s inside (P_S_pos J J_is_joint s inside)) as [above below].
    unfold positive_part. destruct (Rle_lt_dec (w s) 0).
    + rewrite (Rmax_right (w s)), Rmax_left by lra.
      pose proof (Rmult_le_compat_l (- w s) _ _ ltac:(lra) above). lra.
    + rewrite (Rmax_left (w s)), Rmax_right by lra.
      pose proof (Rmult_le_compat_l (w s) _ _ ltac:(lra) below). lra.
  - rewrite mean_plus, !mean_scale. lra.
Qed.

Theorem support_Renyi order epsilon w :
  1 < order ->
  supports J (Renyi order epsilon) w (exp (epsilon * (order - 1) / order) *
    power (mean J (fun s => power (positive_part (w s)) (conjugate order))) (/ conjugate order)).
Proof.
  intros order_gt l signs total allowed. apply (support_alpha order (epsilon * (order - 1) / order)); try assumption.
  apply renyi_is_alpha; try assumption. apply mean_nonneg. intros; apply power_nonneg.
Qed.

(** Any v with E(w - v) + (t - 1) E(w - v)+ <= 0, t = e^epsilon, bounds E[w l]: l = m (1 + (t - 1) g) with 0 <= g <= 1. *)
Theorem support_LDP epsilon w v :
  0 <= epsilon ->
  mean J (fun s => w s - v) + (exp epsilon - 1) * mean J (fun s => positive_part (w s - v)) <= 0 ->
  supports J (LDP epsilon) w v.
Proof.
  intros epsilon_nonneg below l signs total allowed.
  assert (least : exists m, 0 <= m /\ forall s, (s < secrets J)%nat -> m <= l s <= exp epsilon * m).
  { assert (found : forall k, (k <= secrets J)%nat -> (0 < k)%nat ->
      exists i, (i < k)%nat /\ forall s, (s < k)%nat -> l i <= l s).
    { induction k as [|k IH]; intros inside some; [lia|].
      destruct k as [|k]; [exists 0%nat; split; [lia|]; intros s s_in; replace s with 0%nat by lia; lra|].
      destruct IH as (i & i_in & i_least); try lia.
      destruct (Rle_lt_dec (l i) (l (S k))) as [keeps_least|lower].
      - exists i. split; [lia|]. intros s s_in. destruct (Nat.eq_dec s (S k)) as [->|]; [lra | apply i_least; lia].
      - exists (S k). split; [lia|]. intros s s_in. destruct (Nat.eq_dec s (S k)) as [->|]; [lra|].
        pose proof (i_least s ltac:(lia)). lra. }
    destruct (Nat.eq_dec (secrets J) 0) as [none|some].
    - exists 0. split; [lra|]. intros s s_in. lia.
    - destruct (found (secrets J) (le_n _) ltac:(lia)) as (i & i_in & i_least).
      exists (l i). split; [auto|]. intros s s_in. split; [auto|]. apply allowed; auto using P_S_pos. }
  destruct least as (m & m_nonneg & between).
  enough (mean J (fun s => (w s - v) * l s) <= 0) as bound.
  { assert (mean J (fun s => (w s - v) * l s) = mean J (fun s => w s * l s) - v * mean J l) as parts.
    { rewrite <- (mean_scale v). unfold mean, mean_over. rewrite <- sum_minus. apply sum_ext. intros; lra. }
    rewrite total in parts. lra. }
  apply Rle_trans with (m * (mean J (fun s => w s - v) + (exp epsilon - 1) * mean J (fun s => positive_part (w s - v))));
    [|nra].
  rewrite <- mean_scale, <- mean_plus, <- mean_scale. apply mean_le. intros s inside.
  destruct (between s inside) as [above most].
  unfold positive_part, Rmax. destruct (Rle_dec (w s - v) 0); nra.
Qed.

Lemma mean_const c : mean J (fun _ => c) = c.
Proof.
  unfold mean, mean_over.
  rewrite sum_scale_r. destruct J_is_joint as (_ & _ & _ & ->). lra.
Qed.

Lemma mean_same f g : (forall s, (s < secrets J)%nat -> f s = g s) -> mean J f = mean J g.
Proof. intros same. apply sum_ext. intros s inside. now rewrite same. Qed.

(** E[w l] = E w + E[(w - c)(l - 1)] for any c. *)
Lemma mean_around c w l :
  mean J l = 1 -> mean J (fun s => w s * l s) = mean J w + mean J (fun s => (w s - c) * (l s - 1)).
Proof.
  intros total. rewrite (mean_same (fun s => (w s - c) * (l s - 1)) (fun s => w s * l s + (-1 * w s + (- c * l s + c))))
    by (intros; lra).
  rewrite mean_plus, (mean_plus (fun s => -1 * w s)), (mean_plus (fun s => - c * l s)), !mean_scale, mean_const.
  change (mean J (fun s => w s)) with (mean J w). change (mean J (fun s => l s)) with (mean J l). rewrite total. lra.
Qed.

Theorem support_TV epsilon w c h :
  0 <= h -> (forall s, (s < secrets J)%nat -> Rabs (w s - c) <= h) ->
  supports J (TotalVariation epsilon) w (mean J w + 2 * h * epsilon).
Proof.
  intros h_nonneg near l signs total allowed. unfold allows in allowed. simpl in allowed.
  rewrite (mean_around c) by assumption.
  enough (mean J (fun s => (w s - c) * (l s - 1)) <= h * mean J (fun s => Rabs (l s - 1))).
  { change (mean_over (secrets J) (P_S J) (fun s => Rabs (l s - 1))) with (mean J (fun s => Rabs (l s - 1))) in allowed.
    nra. }
  rewrite <- mean_scale. apply mean_le. intros s inside.
  eapply Rle_trans; [apply Rle_abs|]. rewrite Rabs_mult. apply Rmult_le_compat_r; [apply Rabs_pos | auto].
Qed.

(** Cauchy's and Schwarz's inequality, for any d > 0 whose square is at least the variance. *)
Theorem support_chi epsilon w d :
  0 < epsilon -> 0 < d -> mean J (fun s => (w s - mean J w) ^ 2) <= d ^ 2 ->
  supports J (ChiSquare epsilon) w (mean J w + epsilon * d).
Proof.
  intros epsilon_pos d_pos variance l signs total allowed.
  change (mean J (fun s => (l s - 1) ^ 2) <= epsilon ^ 2) in allowed.
  rewrite (mean_around (mean J w)) by assumption.
  set (m := mean J w) in *. set (r := epsilon / d).
  assert (r_pos : 0 < r) by now apply Rdiv_lt_0_compat.
  assert (inverse : 0 < / r) by now apply Rinv_0_lt_compat.
  enough (mean J (fun s => (w s - m) * (l s - 1)) <=
    r / 2 * mean J (fun s => (w s - m) ^ 2) + / r / 2 * mean J (fun s => (l s - 1) ^ 2)) as young.
  { assert (r / 2 * mean J (fun s => (w s - m) ^ 2) <= r / 2 * d ^ 2) by (apply Rmult_le_compat_l; [lra | assumption]).
    assert (/ r / 2 * mean J (fun s => (l s - 1) ^ 2) <= / r / 2 * epsilon ^ 2)
      by (apply Rmult_le_compat_l; [lra | assumption]).
    assert (r / 2 * d ^ 2 + / r / 2 * epsilon ^ 2 = epsilon * d) by (unfold r; field; lra). lra. }
  rewrite <- !mean_scale, <- mean_plus. apply mean_le. intros s inside.
  set (a := w s - m). set (b := l s - 1).
  assert (0 <= (r * a - b) ^ 2 * / r / 2).
  { pose proof (pow2_ge_0 (r * a - b)). apply Rmult_le_pos; [apply Rmult_le_pos|]; lra. }
  replace (r / 2 * a ^ 2 + / r / 2 * b ^ 2) with ((r * a - b) ^ 2 * / r / 2 + a * b) by (field; lra). lra.
Qed.

(** Where w is the same for all secrets, E[w l] is that, whatever the promise. *)
Lemma support_const q w c : (forall s, (s < secrets J)%nat -> w s = c) -> supports J q w (mean J w).
Proof.
  intros same l signs total _. right. rewrite (mean_around c) by assumption.
  rewrite (mean_same (fun s => (w s - c) * (l s - 1)) (fun _ => 0)), mean_const; [lra|].
  intros s inside. rewrite same by assumption. lra.
Qed.

(** What a stricter promise allows, and what two w gain together. *)
Lemma support_stricter q q' w v :
  (forall l, allows J q l -> allows J q' l) -> supports J q' w v -> supports J q w v.
Proof. intros stricter support l signs total allowed. apply support; auto. Qed.

Lemma support_sum q w w' v v' :
  supports J q w v -> supports J q w' v' -> supports J q (fun s => w s + w' s) (v + v').
Proof.
  intros support support' l signs total allowed.
  rewrite (mean_same _ (fun s => w s * l s + w' s * l s)) by (intros; lra).
  rewrite mean_plus. apply Rplus_le_compat; [now apply support | now apply support'].
Qed.

(** Donsker's and Varadhan's inequality, by Gibbs'. *)
Theorem support_KL epsilon w b :
  0 < b -> supports J (KL epsilon) w (b * (epsilon + ln (mean J (fun s => exp (w s * / b))))).
Proof.
  intros b_pos l signs total allowed. change (mean J (fun s => l s * ln (l s)) <= epsilon) in allowed.
  set (Z := mean J (fun s => exp (w s * / b))).
  assert (Z_pos : 0 < Z).
  { unfold Z. destruct (Nat.eq_dec (secrets J) 0) as [none|some].
    - exfalso. destruct J_is_joint as (_ & _ & _ & all). rewrite none in all. simpl in all. lra.
    - assert (each : forall s, (s < secrets J)%nat -> 0 < P_S J s * exp (w s * / b)).
      { intros s inside. apply Rmult_lt_0_compat; [now apply P_S_pos | apply exp_pos]. }
      apply (sum_pos _ _ 0%nat); [lia | intros j j_in; apply Rlt_le; auto | apply each; lia]. }
  assert (terms : mean J (fun s => l s + - / Z * exp (w s * / b)) <=
    mean J (fun s => l s * ln (l s) + (- / b * (w s * l s) + ln Z * l s))).
  { apply mean_le. intros s inside.
    assert (g_pos : 0 < exp (w s * / b) * / Z) by (apply Rmult_lt_0_compat; [apply exp_pos | now apply Rinv_0_lt_compat]).
    pose proof (gibbs (l s) _ (signs s inside) g_pos) as below.
    rewrite ln_mult, ln_exp, ln_Rinv in below by (try apply exp_pos; try apply Rinv_0_lt_compat; assumption). lra. }
  rewrite (mean_plus l), (mean_plus (fun s => l s * ln (l s))), (mean_plus (fun s => - / b * (w s * l s))) in terms.
  rewrite !mean_scale in terms. fold Z in terms. rewrite total in terms.
  replace (- / Z * Z) with (-1) in terms by (field; lra).
  assert (scaled : / b * mean J (fun s => w s * l s) <= epsilon + ln Z) by lra.
  apply (Rmult_le_compat_l b) in scaled; [|lra]. rewrite <- Rmult_assoc, Rinv_r in scaled by lra. lra.
Qed.

End Joint.
