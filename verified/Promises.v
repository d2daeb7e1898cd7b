(** The integers keep the promise (docs/theory.md, step 2). *)

From Coq Require Import Reals Lra Lia List ZArith Bool.
From Alphalift Require Import Sums Problem Duality Powers Support Arithmetic Cover Checker Meaning Integers.
Import ListNotations.
Open Scope R_scope.

Lemma scale_pos d : (0 < scale d)%Z.
Proof. apply Z.pow_pos_nonneg; lia. Qed.

Lemma number_nonneg d : (0 <=? digits d)%Z = true -> 0 <= number d.
Proof.
  intros signs. apply Z.leb_le, IZR_le in signs. pose proof (scale_pos d) as positive. apply IZR_lt in positive.
  apply Rmult_le_pos; [assumption | now apply Rlt_le, Rinv_0_lt_compat].
Qed.

Lemma number_gt_1 d : (scale d <? digits d)%Z = true -> 1 < number d.
Proof.
  intros above. apply Z.ltb_lt, IZR_lt in above. pose proof (scale_pos d) as positive. apply IZR_lt in positive.
  unfold number. apply (Rmult_lt_reg_r (IZR (scale d))); [assumption|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
Qed.

Lemma exp_ge_1 x : 0 <= x -> 1 <= exp x.
Proof. intros nonneg. rewrite <- exp_0. now apply exp_le. Qed.

(** Lifts that are all 1 keep every promise. *)
Lemma nothing_told J q l :
  is_joint J -> is_promise q ->
  match q with MaxLift epsilon | AlphaLift _ epsilon => 0 <= epsilon end ->
  (forall s, (s < secrets J)%nat -> l s = 1) -> allows J q l.
Proof.
  intros joint proper nonneg ones. unfold allows. destruct q as [epsilon | alpha epsilon]; simpl in *.
  - intros s s_in _. rewrite ones by assumption. now apply exp_ge_1.
  - unfold mean_over. rewrite (sum_ext _ _ (P_S J)).
    + destruct joint as (_ & _ & _ & ->). rewrite power_pos by lra. rewrite ln_1, Rmult_0_r, exp_0. now apply exp_ge_1.
    + intros s s_in. rewrite ones by assumption. rewrite power_pos by lra. rewrite ln_1, Rmult_0_r, exp_0. lra.
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

Lemma power_mean_is alpha prior lifts total :
  length lifts = length prior ->
  Forall (fun lift => 0 <= fst lift /\ 0 < snd lift)%Z lifts ->
  eval (power_mean alpha prior lifts total) =
  sum (length prior) (fun s => IZR (nth s prior 0%Z) / IZR total *
    power (IZR (fst (nth s lifts (0, 0)%Z)) / IZR (snd (nth s lifts (0, 0)%Z))) (eval alpha)).
Proof.
  intros same signs. revert lifts same signs.
  induction prior as [|p prior IH]; intros [|lift lifts] same signs; try discriminate; [reflexivity|].
  apply Forall_cons_iff in signs as [[above below] signs]. cbn [length power_mean]. rewrite sum_first. cbn [nth].
  cbv zeta. rewrite <- (IH lifts) by (simpl in *; try lia; assumption).
  destruct (Z.eqb_spec (fst lift) 0) as [null|some].
  - rewrite null. unfold Rdiv. rewrite Rmult_0_l, power_0. lra.
  - cbn [eval]. rewrite power_pos; [reflexivity|]. apply Rdiv_lt_0_compat; apply IZR_lt; lia.
Qed.

Section File.
Variable f : file.
Hypothesis formed : well_formed f = true.

Let J := joint_of f.
Let W := mechanism_of f.
Let q := promise_of (region f).

Lemma lifts_signs y :
  (y < length (weights f))%nat -> (0 < mass_of f (nth y (rows f) []))%Z ->
  Forall (fun lift => 0 <= fst lift /\ 0 < snd lift)%Z (lifts_of f (nth y (rows f) [])).
Proof.
  intros y_in occurs. apply Forall_forall. intros lift member.
  apply (In_nth _ _ (0, 0)%Z) in member as (s & s_in & <-). rewrite lifts_length in s_in.
  destruct (lifts_are f formed y s y_in s_in occurs) as [below is_lift]. split; [|assumption].
  apply le_IZR. apply IZR_lt in below as below'.
  assert (signs : 0 <= lift J W y s).
  { pose proof (P_Y_is f formed y y_in) as mass_is.
    assert (0 < P_Y J W y).
    { unfold J, W. rewrite mass_is. apply Rdiv_lt_0_compat; [now apply IZR_lt|].
      apply Rmult_lt_0_compat; [now apply N_pos | apply two_pos]. }
    unfold J, W in *. rewrite <- (lift_of_posterior _ (J_is_joint f formed)) by assumption.
    apply lift_nonneg; try assumption; [now apply J_is_joint|].
    apply posterior_is; auto using J_is_joint, W_is_mechanism. }
  unfold J, W in signs. rewrite is_lift in signs. unfold Rdiv in signs.
  apply (Rmult_le_reg_r (/ IZR (snd (nth s (lifts_of f (nth y (rows f) [])) (0, 0)%Z)))).
  - now apply Rinv_0_lt_compat.
  - lra.
Qed.

Lemma in_rows y : (y < length (weights f))%nat -> In (nth y (rows f) []) (rows f).
Proof. intros y_in. apply nth_In. unfold rows. now rewrite map_length. Qed.

Lemma tells_nothing_is y s :
  (y < length (weights f))%nat -> (s < length (counts f))%nat -> (0 < mass_of f (nth y (rows f) []))%Z ->
  tells_nothing (lifts_of f (nth y (rows f) [])) = true -> lift J W y s = 1.
Proof.
  intros y_in s_in occurs nothing.
  destruct (lifts_are f formed y s y_in s_in occurs) as [below is_lift]. unfold J, W. rewrite is_lift.
  unfold tells_nothing in nothing. rewrite forallb_forall in nothing.
  assert (member : In (nth s (lifts_of f (nth y (rows f) [])) (0, 0)%Z) (lifts_of f (nth y (rows f) [])))
    by (apply nth_In; now rewrite lifts_length).
  specialize (nothing _ member). apply Z.eqb_eq in nothing. rewrite nothing. apply IZR_lt in below. field. lra.
Qed.

Theorem promise_kept : promise_holds f = true -> is_promise q /\ keeps J q W.
Proof.
  intros ok. unfold promise_holds in ok. apply andb_true_iff in ok as [occur ok].
  rewrite forallb_forall in occur.
  assert (occurs : forall y, (y < length (weights f))%nat -> (0 < mass_of f (nth y (rows f) []))%Z).
  { intros y y_in. now apply Z.ltb_lt, occur, in_rows. }
  unfold keeps, q, promise_of. destruct (region f) as [epsilon | alpha epsilon].
  - apply andb_true_iff in ok as [epsilon_nonneg ok]. split; [exact I|]. intros y y_in _.
    simpl in y_in. pose proof (in_rows y y_in) as member.
    apply orb_true_iff in ok as [nothing|ok].
    + apply nothing_told; [now apply J_is_joint | exact I | now apply number_nonneg|].
      intros s s_in. rewrite forallb_forall in nothing.
      now apply tells_nothing_is; auto; apply nothing, in_map.
    + apply existsb_exists in ok as (k & k_in & ok). unfold most_at in ok.
      destruct (floor (k + 64)%Z (Exp (exactly epsilon)) k) as [e|] eqn:found; [|discriminate].
      cbv zeta in ok. assert (k_nonneg : (0 <= k)%Z) by (simpl in k_in; lia).
      apply floor_below in found; [|assumption]. cbn [eval exactly] in found. fold (number epsilon) in found.
      rewrite forallb_forall in ok. specialize (ok _ (in_map _ _ _ member)). rewrite forallb_forall in ok.
      intros s s_in _. simpl in s_in.
      destruct (lifts_are f formed y s y_in s_in (occurs y y_in)) as [below is_lift]. unfold J, W. rewrite is_lift.
      set (own := nth s (lifts_of f (nth y (rows f) [])) (0, 0)%Z) in *.
      assert (own_in : In own (lifts_of f (nth y (rows f) []))) by (apply nth_In; now rewrite lifts_length).
      specialize (ok own own_in). apply Z.leb_le, IZR_le in ok. rewrite !mult_IZR in ok.
      apply IZR_lt in below. assert (scaled : 0 < IZR (2 ^ k)) by (apply IZR_lt, Z.pow_pos_nonneg; lia).
      apply (Rmult_le_reg_r (IZR (snd own))); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
      apply (Rmult_le_reg_r (IZR (2 ^ k))); [assumption|].
      apply Rle_trans with (IZR e * IZR (snd own)); [assumption|].
      replace (exp (number epsilon) * IZR (snd own) * IZR (2 ^ k))
        with (exp (number epsilon) * IZR (2 ^ k) * IZR (snd own)) by lra.
      apply Rmult_le_compat_r; [lra | assumption].
  - repeat rewrite andb_true_iff in ok. destruct ok as ((alpha_gt & epsilon_nonneg) & ok).
    apply number_gt_1 in alpha_gt. apply number_nonneg in epsilon_nonneg.
    split; [exact alpha_gt|]. intros y y_in _. simpl in y_in. pose proof (in_rows y y_in) as member.
    rewrite forallb_forall in ok. specialize (ok _ (in_map _ _ _ member)). apply orb_true_iff in ok as [nothing|ok].
    + apply nothing_told; try assumption; [now apply J_is_joint|].
      intros s s_in. now apply tells_nothing_is; auto.
    + apply decide_sound in ok. rewrite eval_Sub in ok. cbn [eval] in ok.
      change (eval (exactly alpha)) with (number alpha) in ok. change (eval (exactly epsilon)) with (number epsilon) in ok.
      apply norm_below; [assumption| |].
      * apply mean_nonneg; [now apply J_is_joint|]. intros; apply power_nonneg.
      * rewrite power_mean_is in ok.
        -- change (eval (exactly alpha)) with (number alpha) in ok. unfold mean_over. simpl. fold J W.
           match type of ok with 0 <= _ - ?m => enough (sum (length (counts f)) (fun s =>
             P_S J s * power (lift J W y s) (number alpha)) = m) as same by (rewrite same; lra) end.
           unfold prior. rewrite map_length. apply sum_ext. intros s s_in.
           destruct (lifts_are f formed y s y_in s_in (occurs y y_in)) as [_ is_lift]. unfold J, W. rewrite is_lift.
           rewrite P_S_is by assumption. rewrite (nth_indep _ 0%Z (zsum [])) by (now rewrite map_length).
           now rewrite map_nth.
        -- unfold prior. now rewrite lifts_length, map_length.
        -- now apply lifts_signs; auto.
Qed.

End File.
