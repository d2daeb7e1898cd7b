(** Unseen values: the promise over all records, whatever share of them is answered without X (docs/theory.md, step 3). *)

From Coq Require Import Reals Lra Lia List ZArith Bool.
From Alphalift Require Import Sums Problem Duality Powers Support Arithmetic Cover Checker Meaning Integers Promises.
Import ListNotations.
Open Scope R_scope.

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

Theorem unseen_alpha alpha epsilon :
  1 < alpha -> mean J (fun s => power (l s) alpha) <= exp (alpha * epsilon) ->
  power rho alpha <= exp (alpha * epsilon) * (1 + alpha * (rho - 1)) ->
  allows_over k prior (AlphaLift alpha epsilon) (fun s => p_sy s / (prior s * p_y)).
Proof.
  intros alpha_gt seen condition. pose proof p_y_pos as p_y_pos.
  set (B := exp (alpha * epsilon)) in *. assert (B_pos : 0 < B) by apply exp_pos.
  assert (rho_pos : 0 < rho) by now apply Rdiv_lt_0_compat.
  set (d := p_y / P_Y J W y). assert (d_pos : 0 < d) by now apply Rdiv_lt_0_compat.
  assert (d_is : d = 1 + share * (rho - 1)) by (unfold d, p_y, rho; field; lra).
  assert (d_a : 0 < power d alpha) by now apply power_gt.
  assert (prior_nonneg : forall s, (s < k)%nat -> 0 <= prior s).
  { intros s s_in. pose proof (r_nonneg s s_in). unfold prior, of_seen.
    destruct (Nat.ltb_spec s (secrets J)) as [within|]; [pose proof (P_S_pos J joint s within)|]; nra. }
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
  apply norm_below; [assumption| |].
  { apply sum_nonneg. intros s s_in. apply Rmult_le_pos; [now apply prior_nonneg | apply power_nonneg]. }
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

End Output.

(** From the norm to E l^alpha. *)
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

Section File.
Variable f : file.
Hypothesis formed : well_formed f = true.
Hypothesis promise : promise_holds f = true.
Hypothesis ok : unseen_holds f = true.

Let J := joint_of f.
Let W := mechanism_of f.

Lemma occur y : (y < length (weights f))%nat -> (0 < mass_of f (nth y (rows f) []))%Z.
Proof.
  intros y_in. unfold promise_holds in promise. apply andb_true_iff in promise as [occur _].
  rewrite forallb_forall in occur. now apply Z.ltb_lt, occur, in_rows.
Qed.

Lemma budget : match promise_of (region f) with MaxLift epsilon | AlphaLift _ epsilon => 0 <= epsilon end.
Proof.
  unfold promise_holds in promise. apply andb_true_iff in promise as [_ rest].
  destruct (region f); simpl; repeat rewrite andb_true_iff in rest; now apply number_nonneg.
Qed.

Lemma ratio_is y answer :
  (y < length (weights f))%nat -> let rho := ratio_of f (nth y (rows f) []) answer in
  0 < IZR (snd rho) /\ IZR answer / IZR (two (bits f)) / P_Y J W y = IZR (fst rho) / IZR (snd rho).
Proof.
  intros y_in rho. pose proof (occur y y_in) as occurs. apply IZR_lt in occurs. split; [exact occurs|].
  pose proof (two_pos (bits f)). pose proof (N_pos f formed). unfold J, W. rewrite P_Y_is by assumption.
  unfold rho, ratio_of. cbn [fst snd]. rewrite mult_IZR. field. lra.
Qed.

Theorem unseen_kept answers :
  unseen f = Some answers -> keeps_unseen J (promise_of (region f)) W (answers_of f answers).
Proof.
  intros answered share k r share_in more r_nonneg r_total of_seen prior p_y p_sy y y_in _.
  pose proof (J_is_joint f formed) as joint. pose proof (W_is_mechanism f formed) as mech.
  destruct (promise_kept f formed promise) as [proper kept]. pose proof budget as budget.
  change (y < length (weights f))%nat in y_in. pose proof (occur y y_in) as occurs'.
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
  set (rho := ratio_of f (nth y (rows f) []) answer) in *.
  assert (rho_pos : 0 < IZR (fst rho) / IZR (snd rho)).
  { rewrite <- is_rho. now apply Rdiv_lt_0_compat. }
  apply orb_true_iff in holds. destruct (region f) as [epsilon | alpha epsilon]; simpl in budget, proper.
  - apply (unseen_max J W y (answers_of f answers y)); try assumption.
    + rewrite is_rho. destruct holds as [same|holds].
      * apply Z.eqb_eq in same. rewrite same. pose proof (exp_ge_1 _ budget).
        replace (IZR (snd rho) / IZR (snd rho)) with 1 by (field; lra). simpl. assumption.
      * apply existsb_exists in holds as (b & b_in & holds). unfold answered_at in holds. fold rho in holds.
        destruct (floor (b + 64)%Z (Exp (exactly epsilon)) b) as [e|] eqn:found; [|discriminate].
        cbv zeta in holds. assert (b_nonneg : (0 <= b)%Z) by (simpl in b_in; lia).
        apply floor_below in found; [|assumption]. cbn [eval] in found.
        change (eval (exactly epsilon)) with (number epsilon) in found.
        apply andb_true_iff in holds as [holds _]. apply Z.leb_le, IZR_le in holds. rewrite !mult_IZR in holds.
        assert (scaled : 0 < IZR (2 ^ b)) by (apply IZR_lt, Z.pow_pos_nonneg; lia).
        apply (Rmult_le_reg_r (IZR (snd rho) * IZR (2 ^ b))); [now apply Rmult_lt_0_compat|].
        replace (IZR (fst rho) / IZR (snd rho) * (IZR (snd rho) * IZR (2 ^ b))) with (IZR (fst rho) * IZR (2 ^ b))
          by (field; lra).
        eapply Rle_trans; [exact holds|]. apply (Rmult_le_compat_r (IZR (snd rho))) in found; [|lra]. lra.
    + intros s s_in. rewrite is_rho. destruct holds as [same|holds].
      * apply Z.eqb_eq in same. rewrite same.
        replace (IZR (snd rho) / IZR (snd rho)) with 1 by (field; lra). rewrite Rmult_1_r.
        apply kept; [assumption | now apply P_S_pos].
      * apply existsb_exists in holds as (b & b_in & holds). unfold answered_at in holds. fold rho in holds.
        destruct (floor (b + 64)%Z (Exp (exactly epsilon)) b) as [e|] eqn:found; [|discriminate].
        cbv zeta in holds. assert (b_nonneg : (0 <= b)%Z) by (simpl in b_in; lia).
        apply floor_below in found; [|assumption]. cbn [eval] in found.
        change (eval (exactly epsilon)) with (number epsilon) in found.
        apply andb_true_iff in holds as [_ holds]. rewrite forallb_forall in holds.
        change (s < length (counts f))%nat in s_in.
        destruct (lifts_are f formed y s y_in s_in occurs') as [lift_pos is_lift].
        set (own := nth s (lifts_of f (nth y (rows f) [])) (0, 0)%Z) in *.
        assert (own_in : In own (lifts_of f (nth y (rows f) []))) by (apply nth_In; now rewrite lifts_length).
        specialize (holds own own_in). apply Z.leb_le, IZR_le in holds. rewrite !mult_IZR in holds.
        unfold J, W. rewrite is_lift. apply IZR_lt in lift_pos.
        assert (scaled : 0 < IZR (2 ^ b)) by (apply IZR_lt, Z.pow_pos_nonneg; lia).
        assert (fst_pos : 0 < IZR (fst rho)).
        { apply (Rmult_lt_compat_r (IZR (snd rho))) in rho_pos; [|assumption].
          unfold Rdiv in rho_pos. rewrite Rmult_assoc, Rinv_l in rho_pos by lra. lra. }
        apply (Rmult_le_reg_r (IZR (snd own) * IZR (snd rho) * IZR (2 ^ b)));
          [repeat apply Rmult_lt_0_compat; assumption|].
        replace (IZR (fst own) / IZR (snd own) * (IZR (snd own) * IZR (snd rho) * IZR (2 ^ b)))
          with (IZR (fst own) * IZR (snd rho) * IZR (2 ^ b)) by (field; lra).
        eapply Rle_trans; [exact holds|].
        replace (exp (number epsilon) * (IZR (fst rho) / IZR (snd rho)) * (IZR (snd own) * IZR (snd rho) * IZR (2 ^ b)))
          with (exp (number epsilon) * IZR (2 ^ b) * (IZR (fst rho) * IZR (snd own))) by (field; lra).
        apply Rmult_le_compat_r; [|assumption]. apply Rlt_le. now apply Rmult_lt_0_compat.
  - apply (unseen_alpha J W y (answers_of f answers y)); try assumption.
    + apply norm_above; [assumption | | exact kept].
      apply mean_nonneg; [assumption|]. intros; apply power_nonneg.
    + rewrite is_rho. change (number alpha * number epsilon) with (number alpha * number epsilon).
      destruct holds as [same|holds].
      * apply Z.eqb_eq in same. rewrite same.
        replace (IZR (snd rho) / IZR (snd rho)) with 1 by (field; lra).
        rewrite power_pos, ln_1, Rmult_0_r, exp_0 by lra.
        assert (1 <= exp (number alpha * number epsilon)) by (apply exp_ge_1; nra). lra.
      * apply decide_sound in holds. rewrite !eval_Sub in holds. cbn [eval] in holds. rewrite eval_Sub in holds.
        cbn [eval] in holds. change (eval (exactly alpha)) with (number alpha) in holds.
        change (eval (exactly epsilon)) with (number epsilon) in holds.
        rewrite power_pos by assumption. lra.
Qed.

End File.
