(** No mechanism is more useful: the certificate in integers (docs/theory.md, steps 5 to 8). *)

From Coq Require Import Reals Lra Lia List ZArith Bool.
From Alphalift Require Import Sums Problem Entropy Duality Powers Support Perfect Merge Leaf Cover Arithmetic Checker Meaning Integers Promises Worth Ends.
Import ListNotations.
Open Scope R_scope.

(** phi at a place, rounded down over 4^k (step 7). *)
Lemma phi_below_is k a : (0 <= a)%Z -> IZR (phi_below k a) <= phi (IZR a / IZR (two k)) * IZR (two k) ^ 2.
Proof.
  intros a_nonneg. pose proof (two_pos k) as unit_pos. apply IZR_le in a_nonneg.
  unfold phi_below. destruct (floor _ _ _) as [z|] eqn:found.
  - apply floor_below in found; [|lia]. cbn [eval phi_of] in found. rewrite opp_IZR in found.
    replace (IZR (2 ^ (2 * Z.of_N k))) with (IZR (two k) ^ 2) in found.
    + unfold phi, Rdiv in *. lra.
    + rewrite <- Rsqr_pow2. unfold Rsqr, two. rewrite <- mult_IZR, <- Z.pow_add_r by lia. do 2 f_equal. lia.
  - rewrite mult_IZR, minus_IZR. destruct a_nonneg as [above|null].
    + assert (positive : 0 < IZR a / IZR (two k)) by now apply Rdiv_lt_0_compat.
      pose proof (ln_below _ positive) as below. unfold phi.
      apply Rle_trans with (IZR a * (IZR (two k) * - ln (IZR a / IZR (two k)))).
      * apply Rmult_le_compat_l; [lra|].
        replace (IZR (two k) - IZR a) with (IZR (two k) * - (IZR a / IZR (two k) - 1)) by (field; lra).
        apply Rmult_le_compat_l; lra.
      * right. field. lra.
    + rewrite <- null. unfold Rdiv. rewrite !Rmult_0_l, phi_0. lra.
Qed.

Lemma prices_n f proof threshold : reaches f proof threshold = true -> length (prices proof) = size f.
Proof. unfold reaches. cbv zeta. intros ok. apply andb_true_iff in ok as [prices_n _]. now apply Nat.eqb_eq. Qed.

Section File.
Variable f : file.
Hypothesis formed : well_formed f = true.

Let n := size f.
Let J := joint_of f.
Let q := promise_of (region f).
Let N := IZR (everybody f).
Hypothesis parameters_ok : parameters_hold (region f) = true.

Lemma entropy_of_is : eval (entropy_of (columns f) (everybody f)) = entropy n (P_X J).
Proof.
  pose proof (N_pos f formed) as N_pos. unfold entropy_of. rewrite eval_sum, map_length, columns_n by assumption.
  unfold entropy. apply sum_ext. intros x x_in. unfold J. rewrite P_X_is by assumption.
  rewrite (nth_indep _ _ (phi_of (everybody f) 0))
    by (now rewrite map_length, columns_n).
  rewrite map_nth. cbn [eval phi_of]. rewrite opp_IZR. unfold phi, Rdiv. lra.
Qed.

Lemma prior_nth s : (s < length (counts f))%nat -> IZR (nth s (prior f) 0%Z) = P_S J s * N.
Proof.
  intros s_in. pose proof (N_pos f formed). unfold J. rewrite P_S_is by assumption. unfold prior.
  rewrite (nth_indep _ 0%Z (zsum [])) by (now rewrite map_length). rewrite map_nth. unfold N. field. lra.
Qed.

Lemma conjugate_mean_is b masses w total one :
  (0 < one)%Z -> length w = length masses ->
  eval (conjugate_mean b masses w total one) =
  sum (length masses) (fun s =>
    IZR (nth s masses 0%Z) / IZR total * power (positive_part (real one w s)) (eval b)).
Proof.
  intros one_pos. apply IZR_lt in one_pos as one_pos'. revert w.
  induction masses as [|m masses IH]; intros [|own w] same; try discriminate; [reflexivity|].
  cbn [length conjugate_mean]. cbv zeta. rewrite sum_first. unfold real at 1. cbn [nth].
  replace (sum (length masses) _) with (eval (conjugate_mean b masses w total one)) by (apply IH; simpl in same; lia).
  unfold positive_part. destruct (Z.leb_spec own 0) as [below|above].
  - rewrite Rmax_right, power_0; [lra|]. apply IZR_le in below. unfold Rdiv.
    assert (0 < / IZR one) by now apply Rinv_0_lt_compat. nra.
  - apply IZR_lt in above. assert (0 < IZR own / IZR one) by now apply Rdiv_lt_0_compat.
    cbn [eval]. rewrite Rmax_left by lra. now rewrite power_pos.
Qed.

Lemma scaled_positive_part one a : (0 < one)%Z -> IZR (Z.max a 0) / IZR one = positive_part (IZR a / IZR one).
Proof.
  intros one_pos. apply IZR_lt in one_pos. assert (0 < / IZR one) by now apply Rinv_0_lt_compat.
  unfold positive_part. destruct (Z.max_spec a 0) as [[below ->]|[above ->]].
  - apply IZR_lt in below. rewrite Rmax_right; [lra|]. unfold Rdiv. nra.
  - apply IZR_le in above. rewrite Rmax_left; [reflexivity|]. unfold Rdiv. nra.
Qed.

Lemma prior_n : length (prior f) = length (counts f).
Proof. unfold prior. apply map_length. Qed.

Lemma map_at (g : Z -> Z) w s : (s < length w)%nat -> nth s (map g w) 0%Z = g (nth s w 0%Z).
Proof. intros s_in. rewrite (nth_indep _ 0%Z (g 0%Z)) by (now rewrite map_length). apply map_nth. Qed.

(** E w+, of integers over N times a unit. *)
Lemma mean_above_is w one :
  (0 < one)%Z -> length w = length (counts f) ->
  IZR (Checker.dot (above_zero w) (prior f)) / IZR (everybody f * one) = mean J (fun s => positive_part (real one w s)).
Proof.
  intros one_pos w_n. apply IZR_lt in one_pos as one_pos'. pose proof (N_pos f formed) as N_pos. pose proof prior_n as prior_n.
  rewrite mult_IZR, (dot_is (length (counts f))) by (unfold above_zero; rewrite ?map_length; assumption).
  unfold mean, mean_over. unfold Rdiv. rewrite <- sum_scale_r. apply sum_ext. intros s s_in.
  change (secrets J) with (length (counts f)) in s_in.
  unfold above_zero. rewrite map_at, prior_nth by lia. unfold real.
  rewrite <- scaled_positive_part by assumption. unfold N. field. lra.
Qed.

(** A v that passes [is_above], for LDP. *)
Lemma is_above_supports epsilon t w v one :
  (0 < one)%Z -> length w = length (counts f) -> (0 <=? digits epsilon)%Z = true ->
  exp_above (exactly epsilon) 256 = Some t -> is_above (2 ^ 256) t (prior f) w v = true ->
  supports J (LDP (number epsilon)) (real one w) (IZR v / IZR one).
Proof.
  intros one_pos w_n nonneg is_t ok. apply IZR_lt in one_pos as one_pos'. pose proof (N_pos f formed) as N_pos.
  pose proof prior_n as prior_n. apply support_LDP; [now apply J_is_joint | now apply number_nonneg|].
  apply ceiling_above in is_t; [|lia]. cbn [eval] in is_t. change (eval (exactly epsilon)) with (number epsilon) in is_t.
  unfold is_above in ok. apply Z.leb_le, IZR_le in ok.
  assert (unit : 0 < IZR (2 ^ 256)) by (apply IZR_lt; reflexivity).
  set (unit_Z := (2 ^ 256)%Z) in *. clearbody unit_Z.
  rewrite plus_IZR, !mult_IZR, minus_IZR in ok.
  rewrite !(dot_is (length (counts f))) in ok by (unfold above_zero; rewrite ?map_length; assumption).
  assert (rest : forall s, (s < length (counts f))%nat -> real one w s - IZR v / IZR one = IZR (nth s w 0 - v)%Z / IZR one).
  { intros s s_in. unfold real. rewrite minus_IZR. field. lra. }
  assert (first : mean J (fun s => real one w s - IZR v / IZR one) * (N * IZR one) =
    sum (length (counts f)) (fun s => IZR (nth s (prior f) 0%Z) * IZR (nth s (map (fun own => own - v)%Z w) 0%Z))).
  { unfold mean, mean_over. rewrite <- sum_scale_r. apply sum_ext. intros s s_in.
    change (secrets J) with (length (counts f)) in s_in. rewrite map_at, prior_nth, rest by lia. unfold N. field. lra. }
  assert (second : mean J (fun s => positive_part (real one w s - IZR v / IZR one)) * (N * IZR one) =
    sum (length (counts f)) (fun s => IZR (nth s (prior f) 0%Z) *
      IZR (nth s (above_zero (map (fun own => own - v)%Z w)) 0%Z))).
  { unfold mean, mean_over. rewrite <- sum_scale_r. apply sum_ext. intros s s_in.
    change (secrets J) with (length (counts f)) in s_in. unfold above_zero.
    rewrite map_at by (rewrite map_length; lia). rewrite map_at, prior_nth, rest by lia.
    rewrite <- scaled_positive_part by assumption. unfold N. field. lra. }
  rewrite <- first, <- second in ok.
  set (A := mean J (fun s => real one w s - IZR v / IZR one)) in *.
  set (B := mean J (fun s => positive_part (real one w s - IZR v / IZR one))) in *.
  assert (B_nonneg : 0 <= B) by (apply mean_nonneg; [now apply J_is_joint | intros; apply positive_part_nonneg]).
  change (IZR (everybody f)) with N in N_pos.
  assert (scale_pos : 0 < N * IZR one) by now apply Rmult_lt_0_compat.
  assert (ok' : IZR unit_Z * A + (IZR t - IZR unit_Z) * B <= 0).
  { apply (Rmult_le_reg_r (N * IZR one)); [assumption|]. lra. }
  apply (Rmult_le_reg_l (IZR unit_Z)); [assumption|]. rewrite Rmult_0_r.
  assert (IZR unit_Z * ((exp (number epsilon) - 1) * B) <= (IZR t - IZR unit_Z) * B).
  { rewrite <- Rmult_assoc. apply Rmult_le_compat_r; lra. }
  lra.
Qed.

Lemma mean_w_is w one :
  (0 < one)%Z -> length w = length (counts f) -> eval (mean_w f w one) = mean J (real one w).
Proof.
  intros one_pos w_n. apply IZR_lt in one_pos as one_pos'. pose proof (N_pos f formed) as N_pos. pose proof prior_n as prior_n.
  cbn [eval mean_w]. rewrite mult_IZR, (dot_is (length (counts f))) by assumption.
  unfold mean, mean_over. unfold Rdiv. rewrite <- sum_scale_r. apply sum_ext. intros s s_in.
  rewrite prior_nth by assumption. unfold real, N. field. lra.
Qed.

Lemma variance_is w one :
  (0 < one)%Z -> length w = length (counts f) ->
  0 < IZR (snd (variance_of f w one)) /\
  IZR (fst (variance_of f w one)) / IZR (snd (variance_of f w one)) =
  mean J (fun s => (real one w s - mean J (real one w)) ^ 2).
Proof.
  intros one_pos w_n. apply IZR_lt in one_pos as one_pos'. pose proof (N_pos f formed) as N_pos. pose proof prior_n as prior_n.
  pose proof (mean_w_is w one one_pos w_n) as mean_is. cbn [eval mean_w] in mean_is. rewrite <- mean_is.
  unfold variance_of. cbv zeta. cbn [fst snd]. rewrite !mult_IZR. split; [repeat apply Rmult_lt_0_compat; assumption|].
  rewrite (dot_is (length (counts f))) by (rewrite ?map_length; assumption).
  unfold mean, mean_over. unfold Rdiv at 1. rewrite <- sum_scale_r. apply sum_ext. intros s s_in.
  change (secrets J) with (length (counts f)) in s_in.
  rewrite map_at, prior_nth by lia. rewrite !mult_IZR, !minus_IZR, !mult_IZR. unfold real, N. field. lra.
Qed.

Lemma mean_exp_is b masses w total one :
  (0 < one)%Z -> (0 < b)%Z -> length w = length masses ->
  eval (mean_exp b masses w total) =
  sum (length masses) (fun s => IZR (nth s masses 0%Z) / IZR total * exp (real one w s * / (IZR b / IZR one))).
Proof.
  intros one_pos b_pos. apply IZR_lt in one_pos. apply IZR_lt in b_pos. revert w.
  induction masses as [|m masses IH]; intros [|own w] same; try discriminate; [reflexivity|].
  cbn [length mean_exp]. rewrite sum_first. unfold real at 1. cbn [nth eval].
  replace (sum (length masses) _) with (eval (mean_exp b masses w total)) by (apply IH; simpl in same; lia).
  do 3 f_equal. field. lra.
Qed.

Lemma between_ends w s : (s < length w)%nat -> (least w <= nth s w 0 <= greatest w)%Z.
Proof.
  unfold least, greatest. generalize (hd 0%Z w) as first. intros first s_in. revert s s_in.
  induction w as [|own w IH]; simpl; intros s s_in; [lia|].
  destruct s as [|s]; [lia|]. pose proof (IH s ltac:(lia)). lia.
Qed.

(** e^budget (E w+^a)^(1/a). *)
Lemma norm_sigma_is alpha budget w one :
  (0 < one)%Z -> length w = length (counts f) -> (scale alpha <? digits alpha)%Z = true ->
  eval (norm_sigma f alpha budget w one) = exp (eval budget) *
    power (mean J (fun s => power (positive_part (real one w s)) (conjugate (number alpha)))) (/ conjugate (number alpha)).
Proof.
  intros one_pos w_n alpha_gt. apply IZR_lt in one_pos as one_pos'. pose proof (N_pos f formed) as N_pos.
  pose proof prior_n as prior_n. pose proof (J_is_joint f formed) as joint.
  unfold norm_sigma. cbv zeta.
  pose proof (scale_pos alpha) as scale_pos. apply IZR_lt in scale_pos.
  assert (more : IZR (scale alpha) < IZR (digits alpha)) by now apply IZR_lt, Z.ltb_lt.
  set (b := Quo (Int (digits alpha)) (digits alpha - scale alpha)) in *.
  assert (b_is : eval b = conjugate (number alpha)).
  { unfold b, conjugate, number. cbn [eval]. rewrite minus_IZR. field. lra. }
  assert (mean_is : eval (conjugate_mean b (prior f) w (everybody f) one) =
    mean J (fun s => power (positive_part (real one w s)) (conjugate (number alpha)))).
  { rewrite conjugate_mean_is, prior_n, b_is by (trivial; lia). unfold mean, mean_over. apply sum_ext.
    intros s s_in. rewrite prior_nth by assumption. unfold N. field. lra. }
  destruct (forallb (fun own => (own <=? 0)%Z) w) eqn:all.
  - rewrite forallb_forall in all. unfold mean, mean_over. rewrite (sum_ext _ _ (fun _ => 0)).
    + rewrite sum_zero, power_0. simpl. lra.
    + intros s s_in. change (secrets J) with (length (counts f)) in s_in.
      assert (below : (nth s w 0 <= 0)%Z) by (apply Z.leb_le, all, nth_In; lia).
      unfold real. rewrite <- scaled_positive_part by assumption. rewrite Z.max_r by assumption.
      unfold Rdiv. rewrite Rmult_0_l, power_0. lra.
  - cbn [eval]. rewrite mean_is, exp_plus.
    assert (some : 0 < mean J (fun s => power (positive_part (real one w s)) (conjugate (number alpha)))).
    { assert (positive : exists s, (s < length (counts f))%nat /\ (0 < nth s w 0)%Z).
      { destruct (existsb (fun own => negb (own <=? 0)%Z) w) eqn:exists_one.
        - apply existsb_exists in exists_one as (own & member & above).
          apply (In_nth _ _ 0%Z) in member as (s & s_in & <-). exists s. split; [lia|].
          apply negb_true_iff, Z.leb_gt in above. assumption.
        - exfalso. assert (forallb (fun own => (own <=? 0)%Z) w = true); [|congruence].
          apply forallb_forall. intros own member. apply not_false_iff_true. intros not_below.
          assert (existsb (fun own => negb (own <=? 0)%Z) w = true); [|congruence].
          apply existsb_exists. exists own. split; [assumption|]. now rewrite not_below. }
      destruct positive as (s & s_in & above). apply (sum_pos _ _ s s_in).
      - intros j j_in. apply Rmult_le_pos; [|apply power_nonneg].
        apply Rlt_le, P_S_pos; [now apply J_is_joint | assumption].
      - apply Rmult_lt_0_compat; [apply P_S_pos; [now apply J_is_joint | assumption]|]. apply power_gt.
        unfold real. rewrite <- scaled_positive_part by assumption. rewrite Z.max_l by lia.
        apply Rdiv_lt_0_compat; [now apply IZR_lt | assumption]. }
    replace (IZR (digits alpha - scale alpha) / IZR (digits alpha)) with (/ conjugate (number alpha)).
    + rewrite <- power_pos by assumption. reflexivity.
    + unfold conjugate, number. rewrite minus_IZR. field. lra.
Qed.

(** Step 6: what the program takes for sigma(w) is no less than E[w l]. *)
Lemma sigma_supports region w b one e :
  (0 < one)%Z -> length w = length (counts f) -> parameters_hold region = true ->
  sigma_of f region w b one = Some e -> supports J (promise_of region) (real one w) (eval e).
Proof.
  intros one_pos w_n hold is_e. apply IZR_lt in one_pos as one_pos'. pose proof (N_pos f formed) as N_pos.
  pose proof prior_n as prior_n. pose proof (J_is_joint f formed) as joint.
  unfold sigma_of in is_e. cbv zeta in is_e. unfold promise_of.
  destruct region as [epsilon | alpha epsilon | lower upper | epsilon | epsilon | epsilon | epsilon | order epsilon | ].
  - injection is_e as <-. cbn [eval]. change (eval (exactly epsilon)) with (number epsilon).
    rewrite mean_above_is by assumption. now apply support_max.
  - apply andb_true_iff in hold as [alpha_gt _]. injection is_e as <-.
    rewrite norm_sigma_is by assumption. apply support_alpha; [assumption | now apply number_gt_1].
  - injection is_e as <-. rewrite eval_Sub. cbn [eval]. rewrite eval_Neg.
    change (eval (exactly upper)) with (number upper). change (eval (exactly lower)) with (number lower).
    rewrite !mean_above_is by (rewrite ?map_length; assumption).
    replace (mean J (fun s => positive_part (real one (map Z.opp w) s)))
      with (mean J (fun s => positive_part (- real one w s))); [now apply support_LIP|].
    apply sum_ext. intros s s_in. change (secrets J) with (length (counts f)) in s_in.
    unfold real. rewrite map_at by lia. rewrite opp_IZR. do 2 f_equal. field. lra.
  - destruct (exp_above (exactly epsilon) 256) as [t|] eqn:is_t; [|discriminate].
    set (fine := map (fun own => (own * one)%Z) w) in *.
    destruct (is_above _ _ _ _ _) eqn:above in is_e; [|discriminate]. injection is_e as <-. cbn [eval].
    assert (fine_n : length fine = length (counts f)) by (unfold fine; now rewrite map_length).
    assert (square_pos : (0 < one * one)%Z) by now apply Z.mul_pos_pos.
    pose proof (is_above_supports epsilon t fine _ (one * one) square_pos fine_n hold is_t above) as support.
    intros l signs total allowed. eapply Rle_trans; [|exact (support l signs total allowed)].
    right. apply sum_ext. intros s s_in. change (secrets J) with (length (counts f)) in s_in.
    unfold real, fine. rewrite map_at by lia. rewrite !mult_IZR. field. lra.
  - injection is_e as <-. cbn [eval]. change (eval (exactly epsilon)) with (number epsilon).
    rewrite mean_w_is by assumption.
    destruct (Nat.eq_dec (length (counts f)) 0) as [none|some].
    { exfalso. destruct joint as (_ & _ & _ & all). simpl in all. rewrite none in all. simpl in all. lra. }
    pose proof (between_ends w 0%nat ltac:(lia)) as order.
    assert (range : 0 <= IZR (greatest w) - IZR (least w)) by (rewrite <- minus_IZR; apply IZR_le; lia).
    replace (IZR (greatest w - least w) / IZR one * number epsilon)
      with (2 * ((IZR (greatest w) - IZR (least w)) / IZR one / 2) * number epsilon) by (rewrite minus_IZR; field; lra).
    assert (inverse : 0 < / IZR one) by now apply Rinv_0_lt_compat.
    apply (support_TV J joint _ _ ((IZR (greatest w) + IZR (least w)) / IZR one / 2)).
    + unfold Rdiv. apply Rmult_le_pos; [apply Rmult_le_pos|]; lra.
    + intros s s_in. change (secrets J) with (length (counts f)) in s_in.
      destruct (between_ends w s ltac:(lia)) as [from to]. apply IZR_le in from, to. unfold real, Rdiv.
      apply (Rmult_le_compat_r (/ IZR one)) in from; [|lra]. apply (Rmult_le_compat_r (/ IZR one)) in to; [|lra].
      apply Rabs_le. rewrite !(Rmult_plus_distr_r _ _ (/ IZR one)), !(Rmult_minus_distr_r (/ IZR one)). lra.
  - destruct (Z.eqb_spec (greatest w) (least w)) as [constant|varied].
    + injection is_e as <-. rewrite mean_w_is by assumption.
      apply (support_const J joint _ _ (IZR (least w) / IZR one)). intros s s_in.
      change (secrets J) with (length (counts f)) in s_in. pose proof (between_ends w s ltac:(lia)).
      unfold real. do 2 f_equal. lia.
    + destruct (variance_is w one one_pos w_n) as [bottom_pos is_variance].
      destruct (variance_of f w one) as [top bottom]. cbn [fst snd] in *.
      destruct (0 <? digits epsilon)%Z eqn:epsilon_pos; [|discriminate].
      destruct (Z.ltb_spec 0 top) as [top_pos|]; [|discriminate]. cbn [andb] in is_e. injection is_e as <-.
      cbn [eval]. change (eval (exactly epsilon)) with (number epsilon). change (IZR 2) with 2.
      change (IZR (Checker.dot w (prior f)) / IZR (everybody f * one)) with (eval (mean_w f w one)).
      rewrite mean_w_is by assumption. apply IZR_lt in top_pos.
      assert (variance_pos : 0 < IZR top / IZR bottom) by now apply Rdiv_lt_0_compat.
      apply support_chi; [assumption | | apply exp_pos |].
      * apply Z.ltb_lt, IZR_lt in epsilon_pos. pose proof (scale_pos epsilon) as positive. apply IZR_lt in positive.
        now apply Rdiv_lt_0_compat.
      * rewrite <- is_variance. right. simpl. rewrite Rmult_1_r, <- exp_plus.
        replace (ln (IZR top / IZR bottom) / 2 + ln (IZR top / IZR bottom) / 2) with (ln (IZR top / IZR bottom)) by lra.
        now rewrite exp_ln.
  - destruct (Z.ltb_spec 0 b) as [b_pos|]; [|discriminate]. injection is_e as <-. cbn [eval].
    change (eval (exactly epsilon)) with (number epsilon). rewrite (mean_exp_is b _ _ _ one) by (trivial; lia).
    rewrite prior_n.
    replace (sum (length (counts f)) _) with (mean J (fun s => exp (real one w s * / (IZR b / IZR one)))).
    + apply support_KL; [assumption|]. apply IZR_lt in b_pos. now apply Rdiv_lt_0_compat.
    + unfold mean, mean_over. apply sum_ext. intros s s_in. rewrite prior_nth by assumption. unfold N. field. lra.
  - apply andb_true_iff in hold as [order_gt _]. injection is_e as <-.
    rewrite norm_sigma_is, norm_budget_is by assumption. apply support_Renyi; [assumption | now apply number_gt_1].
  - discriminate.
Qed.

(** The same of all parts together, and of a budget of 0. *)
Lemma support_of_supports whole ones region one entries w e rest :
  (0 < one)%Z -> parameters_hold region = true -> (forall l, allows J whole l -> allows J (promise_of region) l) ->
  (ones = true -> is_promise whole /\ no_budget whole) -> support_of f ones region one entries = Some (w, e, rest) ->
  length w = length (counts f) /\ supports J whole (real one w) (eval e).
Proof.
  intros one_pos. revert entries w e rest.
  induction region as [epsilon | alpha epsilon | lower upper | epsilon | epsilon | epsilon | epsilon | order epsilon
    | first IH second IH']; intros entries w e rest hold part null found.
  9: { cbn [support_of parameters_hold] in *. apply andb_true_iff in hold as [hold hold'].
    destruct (support_of f ones first one entries) as [[[w1 e1] rest1]|] eqn:found1; [|discriminate].
    destruct (support_of f ones second one rest1) as [[[w2 e2] rest2]|] eqn:found2; [|discriminate].
    injection found as <- <- <-.
    destruct (IH entries w1 e1 rest1) as [w1_n support1]; try assumption; [intros l allowed; now apply part|].
    destruct (IH' rest1 w2 e2 rest2) as [w2_n support2]; try assumption; [intros l allowed; now apply part|].
    split; [rewrite map2_length; lia|].
    pose proof (support_sum J whole _ _ _ _ support1 support2) as both. intros l signs total allowed.
    eapply Rle_trans; [|exact (both l signs total allowed)]. right. apply mean_same. intros s s_in.
    change (secrets J) with (length (counts f)) in s_in. apply IZR_lt in one_pos.
    unfold real. rewrite (map2_nth _ _ _ _ 0%Z 0%Z) by lia. rewrite plus_IZR. field. lra. }
  all: cbn [support_of] in found; cbv zeta in found;
    (destruct (Nat.eqb_spec (length (firstn (length (counts f)) entries)) (length (counts f))) as [w_n|]; [|discriminate]);
    destruct ones;
    [ injection found as <- <- <-; split; [exact w_n|]; rewrite mean_w_is by assumption;
      destruct (null eq_refl); now apply support_perfect; [apply J_is_joint|..]
    | match type of found with match ?sigma with _ => _ end = _ => destruct sigma as [own|] eqn:is_e end; [|discriminate];
      injection found as <- <- <-; split; [exact w_n|];
      apply (support_stricter J whole _ _ _ part); exact (sigma_supports _ _ _ _ _ one_pos w_n hold is_e) ].
Qed.

Lemma weighted_length w table :
  Forall (fun row => length row = n) table -> length (weighted n w table) = n.
Proof.
  intros rows_n. revert w. induction rows_n as [|row table row_n _ IH]; intros [|own w];
    cbn [weighted]; try apply repeat_length. rewrite map2_length; rewrite IH || rewrite row_n; auto.
Qed.

Lemma weighted_nth w table x :
  Forall (fun row => length row = n) table -> (x < n)%nat -> length w = length table ->
  IZR (nth x (weighted n w table) 0%Z) = sum (length table) (fun s => IZR (nth s w 0%Z) * IZR (entry table s x)).
Proof.
  intros rows_n x_in. revert w. induction rows_n as [|row table row_n rows_n IH]; intros [|own w] same; try discriminate.
  - cbn [weighted]. now rewrite repeat_nth.
  - cbn [weighted length]. rewrite sum_first, (map2_nth _ _ _ _ 0%Z 0%Z) by (rewrite ?weighted_length; auto; lia).
    rewrite plus_IZR, mult_IZR, IH by (simpl in same; lia). reflexivity.
Qed.

Section Certificate.
Variable proof : certificate.
Hypothesis prices_n : length (prices proof) = n.

Let one := two (proof_bits proof).
Let unit := IZR one.

Lemma one_pos : (0 < one)%Z.
Proof. apply Z.pow_pos_nonneg; lia. Qed.

Lemma four_is : IZR (2 ^ (2 * Z.of_N (proof_bits proof))) = unit ^ 2.
Proof.
  rewrite <- Rsqr_pow2. unfold Rsqr, unit, one, two. rewrite <- mult_IZR, <- Z.pow_add_r by lia. do 2 f_equal. lia.
Qed.

Let u := real one (prices proof).

(** A posterior that the promise allows, and h(V) - u.V over one^2. *)
Definition allowed (V : nat -> R) : Prop := is_posterior J V /\ allows J q (lift_of J V).
Definition scaled_value (V : nat -> R) : R := (entropy n V - Duality.dot J u V) * unit ^ 2.

(** Step 7 in integers. *)
Lemma terms_bound dual constant rates :
  terms_of f proof dual = Some (constant, rates) ->
  length rates = n /\
  forall V t, allowed V ->
    (forall x, (x < n)%nat -> t x <= phi (V x) * unit ^ 2 - IZR (at_place rates x) * (V x * unit)) ->
    IZR constant + sum n t <= scaled_value V.
Proof.
  unfold terms_of. cbv zeta.
  destruct (support_of f (perfect (region f)) (region f) (two (proof_bits proof)) dual) as [[[w e] rest]|] eqn:is_e;
    [|discriminate].
  destruct rest as [|nu [|]]; try discriminate.
  destruct (floor _ _ _) as [low|] eqn:found; [|discriminate]. intros is_terms. injection is_terms as <- <-.
  pose proof one_pos as one_pos. assert (unit_pos : 0 < unit) by now apply IZR_lt.
  apply floor_below in found; [|lia]. rewrite four_is, eval_Neg in found. fold one in found.
  destruct (support_of_supports q (perfect (region f)) (region f) one dual w e [nu]) as [w_n support]; try assumption.
  { trivial. }
  { intros zero. split; [now apply region_parameters | now apply perfect_iff]. }
  set (sigma := eval e) in *.
  pose proof (counts_n f formed) as counts_n. pose proof (columns_n f formed) as columns_n. fold n in counts_n, columns_n.
  assert (means_n : length (map2 Z.div (weighted n w (counts f)) (columns f)) = n).
  { rewrite map2_length; rewrite weighted_length; auto. }
  split; [rewrite map2_length; rewrite prices_n; auto|].
  intros V t [V_is V_allowed] below.
  set (nu' := IZR nu / unit).
  pose (c := fun x => IZR (at_place (map2 (fun u mean => (u + nu - mean)%Z) (prices proof)
    (map2 Z.div (weighted n w (counts f)) (columns f))) x) / unit).
  assert (bound : nu' - sigma + sum n (fun x => t x / unit ^ 2) <= entropy n V - Duality.dot J u V).
  { apply (leaf J (J_is_joint f formed) q u (real one w) sigma nu' c); try assumption.
    - intros x x_in. unfold rate, c, at_place. change (x < n)%nat in x_in.
      rewrite (map2_nth _ _ _ _ 0%Z 0%Z) by lia. rewrite minus_IZR, plus_IZR.
      rewrite (map2_nth _ _ _ _ 0%Z 0%Z) by (rewrite weighted_length; auto; lia).
      set (mean := (nth x (weighted n w (counts f)) 0 / nth x (columns f) 0)%Z).
      pose proof (column_pos f formed x x_in) as column_pos.
      enough (IZR mean / unit <= sum (secrets J) (fun s => real one w s * P_S_given J s x)) as above.
      { change (u x) with (IZR (nth x (prices proof) 0%Z) / unit). fold unit in above |- *.
        unfold Rdiv. rewrite Rmult_minus_distr_r, Rmult_plus_distr_r.
        change (IZR nu * / unit) with nu'. unfold Rdiv in above. lra. }
      assert (floored : IZR mean * IZR (nth x (columns f) 0%Z) <= IZR (nth x (weighted n w (counts f)) 0%Z)).
      { rewrite <- mult_IZR. apply IZR_le. unfold mean. rewrite Z.mul_comm. apply Z.mul_div_le. now apply lt_IZR. }
      rewrite weighted_nth in floored by auto.
      apply (Rmult_le_reg_r (unit * IZR (nth x (columns f) 0%Z))); [now apply Rmult_lt_0_compat|].
      replace (IZR mean / unit * (unit * IZR (nth x (columns f) 0%Z)))
        with (IZR mean * IZR (nth x (columns f) 0%Z)) by (field; lra).
      eapply Rle_trans; [exact floored|]. right. rewrite <- sum_scale_r. apply sum_ext. intros s s_in.
      unfold real, P_S_given, J. rewrite P_X_is by assumption. simpl. fold unit.
      pose proof (N_pos f formed). field. repeat split; lra.
    - intros x x_in. unfold c. change (x < n)%nat in x_in. specialize (below x x_in).
      apply (Rmult_le_reg_r (unit ^ 2)); [nra|].
      replace (t x / unit ^ 2 * unit ^ 2) with (t x) by (field; lra).
      eapply Rle_trans; [exact below|]. right. fold n. field. lra. }
  unfold scaled_value. apply (Rmult_le_compat_r (unit ^ 2)) in bound; [|nra].
  eapply Rle_trans; [|exact bound].
  rewrite plus_IZR, mult_IZR. fold one unit. unfold Rdiv. rewrite sum_scale_r.
  replace ((nu' - sigma + sum n t * / unit ^ 2) * unit ^ 2)
    with (IZR nu * unit + - sigma * unit ^ 2 + sum n t) by (unfold nu'; field; lra).
  lra.
Qed.

Lemma unit_box V : is_posterior J V -> inside n one V (repeat 0%Z n) (repeat one n).
Proof.
  intros [signs total]. pose proof one_pos as one_pos. apply IZR_lt in one_pos.
  assert (ends : forall v x, (x < n)%nat -> at_place (repeat v n) x = v).
  { intros v x x_in. apply (repeat_spec n v). apply nth_In. now rewrite repeat_length. }
  repeat split; rewrite ?repeat_length, ?ends by assumption; try lia; try reflexivity.
  - pose proof (signs x H). nra.
  - assert (V x <= 1). { rewrite <- total. now apply sum_term. } nra.
Qed.

(** Steps 7 and 8: the least of h(V) - u.V over all V that are allowed. *)
Theorem reaches_least threshold :
  reaches f proof threshold = true ->
  forall V, is_posterior J V -> allows J q (lift_of J V) -> IZR threshold / unit ^ 2 <= entropy n V - Duality.dot J u V.
Proof.
  unfold reaches. fold n one. cbv zeta. unfold remembered. intros ok. apply andb_true_iff in ok as [_ ok].
  destruct (by_what proof) as [duals boxes | low high].
  2: { assert (two_secrets : length (counts f) = 2%nat)
         by (unfold pairs_hold in ok; destruct (Nat.eqb_spec (length (counts f)) 2); [assumption | discriminate]).
       exact (pairs_least f formed parameters_ok two_secrets _ _ low high threshold ok). }
  pose proof one_pos as one_pos. assert (unit_pos : 0 < unit) by now apply IZR_lt.
  intros V V_is V_allowed. apply (Rmult_le_reg_r (unit ^ 2)); [nra|].
  replace (IZR threshold / unit ^ 2 * unit ^ 2) with (IZR threshold) by (field; lra).
  change ((entropy n V - Duality.dot J u V) * unit ^ 2) with (scaled_value V).
  refine (holds_sound n one threshold (phi_below (proof_bits proof)) _ allowed scaled_value
    one_pos _ _ _ boxes _ _ V ok (conj V_is V_allowed) (unit_box V V_is)).
  - intros V' [[signs total] _]. now split.
  - intros a a_nonneg. now apply phi_below_is.
  - intros d constant rates. destruct (nth_error duals d) as [dual|]; [|discriminate]. apply terms_bound.
Qed.

End Certificate.

(** Step 5: the threshold is what the claim needs. *)
Lemma needed_bound k u threshold W :
  length u = n -> needed f k u = Some threshold -> is_mechanism J W -> keeps J q W ->
  (forall V, is_posterior J V -> allows J q (lift_of J V) ->
    IZR threshold / IZR (two k) ^ 2 <= entropy n V - Duality.dot J (real (two k) u) V) ->
  information J W <= number (at_most f).
Proof.
  intros u_n is_needed mech kept least.
  pose proof (two_pos k) as unit_pos. set (unit := IZR (two k)) in *.
  pose proof (prices_bound J (J_is_joint f formed) W mech q (real (two k) u) _ least kept) as bound.
  unfold needed in is_needed. apply ceiling_above in is_needed; [|lia].
  replace (IZR (2 ^ (2 * Z.of_N k))) with (unit ^ 2) in is_needed.
  2: { rewrite <- Rsqr_pow2. unfold Rsqr, unit, two. rewrite <- mult_IZR, <- Z.pow_add_r by lia. do 2 f_equal. lia. }
  rewrite eval_Sub in is_needed. cbn [eval] in is_needed. rewrite entropy_of_is in is_needed.
  change (eval (exactly (at_most f))) with (number (at_most f)) in is_needed.
  assert (paid : IZR (Checker.dot u (columns f)) / IZR (everybody f * two k) = Duality.dot J (real (two k) u) (P_X J)).
  { rewrite (dot_is n) by (trivial; now apply columns_n). pose proof (N_pos f formed). rewrite mult_IZR.
    unfold Duality.dot. unfold Rdiv. rewrite <- sum_scale_r. apply sum_ext. intros x x_in.
    unfold J. rewrite P_X_is by assumption. unfold real. fold unit. field. lra. }
  rewrite paid in is_needed.
  assert (IZR threshold / unit ^ 2 * unit ^ 2 = IZR threshold) by (field; lra).
  assert (entropy n (P_X J) - Duality.dot J (real (two k) u) (P_X J) - number (at_most f) <= IZR threshold / unit ^ 2).
  { apply (Rmult_le_reg_r (unit ^ 2)); [nra|]. lra. }
  fold n in bound. change (symbols J) with n in bound. lra.
Qed.

End File.

Section Types.
Variable f : file.
Hypothesis formed : well_formed f = true.
Hypothesis parameters_ok : parameters_hold (region f) = true.

Let J := joint_of f.
Let q := promise_of (region f).

(** Step 5a, in integers. *)
Lemma merges_least g m u bound :
  well_formed g = true -> merges f g m = true ->
  (forall V, is_posterior (joint_of g) V -> allows (joint_of g) q (lift_of (joint_of g) V) ->
    bound <= entropy (size g) V - Duality.dot (joint_of g) u V) ->
  forall V, is_posterior J V -> allows J q (lift_of J V) ->
    bound <= entropy (size f) V - Duality.dot J (fun x => u (kind (types m) x)) V.
Proof.
  intros formed' ok. unfold merges in ok. cbv zeta in ok. repeat rewrite andb_true_iff in ok.
  destruct ok as (((((types_n & groups_n) & types_in) & groups_in) & lifts) & masses).
  apply Nat.eqb_eq in types_n, groups_n. rewrite forallb_forall in types_in, groups_in, lifts, masses.
  pose proof (N_pos f formed) as all_pos. pose proof (N_pos g formed') as all_pos'.
  assert (inside : forall s, (s < length (counts f))%nat -> (kind (groups m) s < length (counts g))%nat).
  { intros s s_in. apply Nat.ltb_lt, groups_in, nth_In. lia. }
  apply (merged_least J (joint_of g) (kind (types m)) (kind (groups m))); try now apply J_is_joint.
  - intros x x_in. apply Nat.ltb_lt, types_in, nth_In. change (x < size f)%nat in x_in. lia.
  - exact inside.
  - intros i i_in. change (i < length (counts g))%nat in i_in.
    specialize (masses i ltac:(apply in_seq; lia)). apply Z.eqb_eq in masses.
    apply (f_equal IZR) in masses. rewrite !mult_IZR in masses. unfold at_number in masses at 1.
    rewrite (prior_nth g formed' i i_in) in masses.
    rewrite (zsum_is (length (counts f))) in masses by (now rewrite map_length, seq_length).
    rewrite (sum_ext _ _ (fun s => (if Nat.eqb (kind (groups m) s) i then P_S J s else 0) * IZR (everybody f))) in masses.
    + rewrite sum_scale_r in masses. unfold collected. change (secrets J) with (length (counts f)).
      apply (Rmult_eq_reg_r (IZR (everybody g) * IZR (everybody f))); [lra|].
      apply Rmult_integral_contrapositive. split; lra.
    + intros s s_in. rewrite (nth_indep _ 0%Z (if Nat.eqb (kind (groups m) 0) i then at_number (prior f) 0 else 0%Z))
        by (now rewrite map_length, seq_length).
      rewrite (map_nth (fun s => if Nat.eqb (kind (groups m) s) i then at_number (prior f) s else 0%Z)).
      rewrite seq_nth by assumption. simpl (0 + s)%nat.
      destruct (Nat.eqb (kind (groups m) s) i); [|lra]. now apply prior_nth.
  - intros s x s_in x_in. change (s < length (counts f))%nat in s_in. change (x < size f)%nat in x_in.
    specialize (lifts s ltac:(apply in_seq; lia)). rewrite forallb_forall in lifts.
    specialize (lifts x ltac:(apply in_seq; lia)). apply Z.eqb_eq in lifts. unfold at_number in lifts.
    set (t := kind (types m) x) in *. set (i := kind (groups m) s) in *.
    assert (i_in : (i < length (counts g))%nat) by now apply inside.
    assert (t_in : (t < size g)%nat) by (apply Nat.ltb_lt, types_in, nth_In; lia).
    apply (f_equal IZR) in lifts. rewrite !mult_IZR in lifts.
    rewrite (prior_nth g formed' i i_in), (prior_nth f formed s s_in) in lifts.
    unfold P_S_given, J. rewrite !P_X_is by assumption. fold J in lifts |- *.
    change (mass J s x) with (IZR (entry (counts f) s x) / IZR (everybody f)). cbn [mass joint_of]. unfold entry.
    pose proof (column_pos f formed x x_in). pose proof (column_pos g formed' t t_in).
    pose proof (P_S_pos J (J_is_joint f formed) s s_in). pose proof (P_S_pos _ (J_is_joint g formed') i i_in).
    apply (Rmult_eq_reg_r (IZR (everybody f) * IZR (everybody g) * IZR (nth x (columns f) 0%Z) * IZR (nth t (columns g) 0%Z) *
      P_S J s * P_S (joint_of g) i)); [|repeat apply Rmult_integral_contrapositive_currified; lra].
    field_simplify; [|lra..]. lra.
Qed.

Theorem optimum_at_most :
  optimum_holds f = true ->
  forall W, is_mechanism J W -> keeps J q W -> information J W <= number (at_most f).
Proof.
  unfold optimum_holds. destruct (proof f) as [proof|]; intros ok W mech kept.
  - unfold proves in ok. cbv zeta in ok. destruct (merged proof) as [m|].
    + repeat rewrite andb_true_iff in ok. destruct ok as ((formed' & merges_ok) & ok).
      destruct (needed _ _ _) as [threshold|] eqn:is_needed; [|discriminate].
      assert (types_n : length (types m) = size f).
      { unfold merges in merges_ok. cbv zeta in merges_ok. repeat rewrite andb_true_iff in merges_ok.
        now apply Nat.eqb_eq. }
      assert (u_n : length (map (at_number (prices proof)) (types m)) = size f) by (now rewrite map_length).
      apply (needed_bound f formed _ _ _ W u_n is_needed mech kept).
      intros V V_is allowed.
      pose proof (merges_least _ m (real (two (proof_bits proof)) (prices proof)) _ formed' merges_ok
        (reaches_least _ formed' parameters_ok proof (prices_n _ _ _ ok) threshold ok) V V_is allowed) as bound.
      eapply Rle_trans; [exact bound|]. right. f_equal. unfold Duality.dot. apply sum_ext. intros x x_in.
      change (x < size f)%nat in x_in. f_equal. unfold real. do 2 f_equal.
      unfold kind. rewrite (nth_indep (map _ (types m)) 0%Z (at_number (prices proof) 0)) by (now rewrite map_length, types_n).
      now rewrite map_nth.
    + destruct (needed _ _ _) as [threshold|] eqn:is_needed; [|discriminate].
      pose proof (prices_n _ _ _ ok) as u_n.
      apply (needed_bound f formed _ _ _ W u_n is_needed mech kept).
      now apply (reaches_least f formed parameters_ok proof u_n threshold ok).
  - apply decide_sound in ok. rewrite eval_Sub, entropy_of_is in ok by assumption.
    change (eval (exactly (at_most f))) with (number (at_most f)) in ok.
    pose proof (publishing_X J (J_is_joint f formed) W mech) as bound. change (symbols J) with (size f) in bound.
    fold J in ok. lra.
Qed.

End Types.
