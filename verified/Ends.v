(** Two secrets in integers: no allowed lift lies beyond an end, and pairs are what the certificate says (docs/theory.md,
    step 9). *)

From Coq Require Import Reals Lra Lia List ZArith Bool.
From Alphalift Require Import Sums Problem Entropy Duality Powers Support Perfect Pairs Arithmetic Checker Meaning Integers Promises.
Import ListNotations.
Open Scope R_scope.

(** Whether lifts reach a limit of a promise. *)
Fixpoint at_limit (J : joint) (q : promise) (l : nat -> R) : Prop :=
  match q with
  | MaxLift epsilon => exists s, (s < secrets J)%nat /\ exp epsilon <= l s
  | AlphaLift alpha epsilon => exp (alpha * epsilon) <= mean J (fun s => power (l s) alpha)
  | LIP lower upper => exists s, (s < secrets J)%nat /\ (exp upper <= l s \/ l s <= exp (- lower))
  | LDP epsilon => exists s s', (s < secrets J)%nat /\ (s' < secrets J)%nat /\ exp epsilon * l s' <= l s
  | TotalVariation epsilon => 2 * epsilon <= mean J (fun s => Rabs (l s - 1))
  | ChiSquare epsilon => epsilon ^ 2 <= mean J (fun s => (l s - 1) ^ 2)
  | KL epsilon => epsilon <= mean J (fun s => l s * ln (l s))
  | Renyi order epsilon => exp ((order - 1) * epsilon) <= mean J (fun s => power (l s) order)
  | Both first second => at_limit J first l \/ at_limit J second l
  end.

(** Between 1 and lifts that are allowed no limit is reached. *)
Lemma no_limit_between J q l t :
  is_joint J -> is_promise q -> has_budget q -> ~ no_budget q ->
  (forall s, (s < secrets J)%nat -> 0 <= l s) -> allows J q l -> 0 <= t < 1 ->
  ~ at_limit J q (fun s => 1 - t + t * l s).
Proof.
  intros joint proper budget some signs allowed [t_nonneg t_less].
  assert (grown : forall epsilon, 0 < epsilon -> 1 < exp epsilon).
  { intros epsilon positive. rewrite <- exp_0. now apply exp_increasing. }
  assert (powers : forall a B, 1 < a -> 1 < B -> mean J (fun s => power (l s) a) <= B ->
    ~ B <= mean J (fun s => power (1 - t + t * l s) a)).
  { intros a B a_gt B_gt below. apply Rlt_not_le.
    apply Rle_lt_trans with (mean J (fun s => t * power (l s) a + (1 - t))).
    - apply mean_le; [assumption|]. intros s s_in.
      pose proof (power_convex (l s) 1 t a a_gt (signs s s_in) ltac:(lra) ltac:(lra)) as below'.
      rewrite (power_pos 1), ln_1, Rmult_0_r, exp_0 in below' by lra.
      replace (1 - t + t * l s) with (t * l s + (1 - t) * 1) by lra. lra.
    - rewrite mean_plus, mean_scale, mean_const by assumption. nra. }
  induction q as [epsilon | alpha epsilon | lower upper | epsilon | epsilon | epsilon | epsilon | order epsilon
    | first IH second IH']; cbn [at_limit no_budget has_budget is_promise] in *.
  - intros (s & s_in & above). pose proof (grown epsilon ltac:(lra)).
    pose proof (allowed s s_in (P_S_pos J joint s s_in)) as below. nra.
  - apply (powers alpha); [assumption | apply grown; nra |].
    apply norm_above; [assumption | apply mean_nonneg; [assumption|]; intros; apply power_nonneg | exact allowed].
  - intros (s & s_in & [above|below]); destruct (allowed s s_in (P_S_pos J joint s s_in)) as [from to].
    + pose proof (grown upper ltac:(lra)). nra.
    + assert (exp (- lower) < 1) by (rewrite <- exp_0; apply exp_increasing; lra). nra.
  - intros (s & s' & s_in & s'_in & above). pose proof (grown epsilon ltac:(lra)).
    pose proof (allowed s s' s_in s'_in (P_S_pos J joint s s_in) (P_S_pos J joint s' s'_in)) as below. simpl in below.
    assert (t * l s <= t * (exp epsilon * l s')) by (apply Rmult_le_compat_l; lra). nra.
  - change (mean J (fun s => Rabs (l s - 1)) / 2 <= epsilon) in allowed.
    rewrite (mean_same J _ (fun s => t * Rabs (l s - 1))).
    + rewrite mean_scale by assumption. nra.
    + intros s s_in. rewrite <- (Rabs_pos_eq t) at 3 by assumption. rewrite <- Rabs_mult. f_equal. lra.
  - change (mean J (fun s => (l s - 1) ^ 2) <= epsilon ^ 2) in allowed.
    rewrite (mean_same J _ (fun s => t ^ 2 * (l s - 1) ^ 2)) by (intros; lra).
    rewrite mean_scale by assumption. assert (t ^ 2 < 1) by nra. assert (0 < epsilon ^ 2) by nra.
    assert (0 <= mean J (fun s => (l s - 1) ^ 2)) by (apply mean_nonneg; [assumption|]; intros; apply pow2_ge_0). nra.
  - change (mean J (fun s => l s * ln (l s)) <= epsilon) in allowed.
    assert (below : mean J (fun s => (1 - t + t * l s) * ln (1 - t + t * l s)) <= mean J (fun s => t * (l s * ln (l s)))).
    { apply mean_le; [assumption|]. intros s s_in. pose proof (signs s s_in) as l_s.
      assert (positive : 0 < 1 - t + t * l s) by nra.
      pose proof (gibbs (l s) _ l_s positive) as first. pose proof (gibbs 1 _ Rle_0_1 positive) as second.
      rewrite ln_1 in second. apply (Rmult_le_compat_l t) in first; [|assumption].
      apply (Rmult_le_compat_l (1 - t)) in second; [|lra]. lra. }
    rewrite mean_scale in below by assumption. nra.
  - apply (powers order); [assumption | apply grown; nra | exact allowed].
  - destruct proper as [proper proper'], budget as [budget budget'], allowed as [allowed allowed'].
    intros [limit|limit]; revert limit; [apply IH | apply IH']; try assumption; intros null; apply some; auto.
Qed.

Section File.
Variable f : file.
Hypothesis formed : well_formed f = true.

Let J := joint_of f.
Let q := promise_of (region f).
Hypothesis parameters_ok : parameters_hold (region f) = true.

Lemma limit_is region lifts :
  length lifts = length (counts f) -> Forall (fun lift => 0 <= fst lift /\ 0 < snd lift)%Z lifts ->
  region_limits f region lifts = true -> parameters_hold region = true ->
  at_limit J (promise_of region) (fun s => ratio (nth s lifts (0, 0)%Z)).
Proof.
  intros lifts_n positive ok hold.
  assert (prior_n : length (prior f) = length (counts f)) by apply map_length.
  assert (prior_at : forall s, (s < length (counts f))%nat -> IZR (nth s (prior f) 0%Z) / IZR (everybody f) = P_S J s).
  { intros s s_in. unfold J. rewrite P_S_is by assumption. unfold prior.
    rewrite (nth_indep _ 0%Z (zsum [])) by (now rewrite map_length). now rewrite map_nth. }
  assert (signs : forall s, (s < length (counts f))%nat ->
    (0 <= fst (nth s lifts (0, 0)%Z))%Z /\ (0 < snd (nth s lifts (0, 0)%Z))%Z).
  { intros s s_in. rewrite Forall_forall in positive. apply positive, nth_In. lia. }
  assert (means : forall term g, (forall a, (0 < snd a)%Z -> eval (term a) = g (ratio a)) ->
    eval (mean_of term (prior f) lifts (everybody f)) = mean J (fun s => g (ratio (nth s lifts (0, 0)%Z)))).
  { intros term g is_g. rewrite mean_of_is by lia. rewrite prior_n. unfold mean, mean_over. apply sum_ext. intros s s_in.
    rewrite prior_at, is_g by (trivial; now apply signs). reflexivity. }
  assert (exact : forall term g, (forall a, (0 < snd a)%Z -> (0 < snd (term a))%Z /\ ratio (term a) = g (ratio a)) ->
    (0 < snd (exact_mean term (prior f) lifts (everybody f)))%Z /\
    ratio (exact_mean term (prior f) lifts (everybody f)) = mean J (fun s => g (ratio (nth s lifts (0, 0)%Z)))).
  { intros term g is_g. destruct (exact_mean_is term g (prior f) lifts (everybody f) is_g) as [above ->]; try assumption.
    - apply lt_IZR. now apply N_pos.
    - lia.
    - split; [exact above|]. rewrite prior_n. unfold mean, mean_over. apply sum_ext. intros s s_in. now rewrite prior_at. }
  assert (norms : forall alpha budget, norm_limits f alpha budget lifts = true ->
    exp (number alpha * eval budget) <= mean J (fun s => power (ratio (nth s lifts (0, 0)%Z)) (number alpha))).
  { intros alpha budget found. apply decide_sound in found. rewrite eval_Sub in found. cbn [eval] in found.
    rewrite power_mean_is in found by (trivial; lia). change (eval (exactly alpha)) with (number alpha) in found.
    rewrite prior_n in found.
    enough (mean J (fun s => power (ratio (nth s lifts (0, 0)%Z)) (number alpha)) = sum (length (counts f)) (fun s =>
      IZR (nth s (prior f) 0%Z) / IZR (everybody f) *
      power (IZR (fst (nth s lifts (0, 0)%Z)) / IZR (snd (nth s lifts (0, 0)%Z))) (number alpha))) as same
      by (rewrite same; lra).
    unfold mean, mean_over. apply sum_ext. intros s s_in. now rewrite prior_at. }
  assert (member : forall own, In own lifts -> exists s, (s < secrets J)%nat /\ nth s lifts (0, 0)%Z = own).
  { intros own own_in. apply (In_nth _ _ (0, 0)%Z) in own_in as (s & s_in & is_own). exists s.
    split; [change (s < length (counts f))%nat; lia | assumption]. }
  induction region as [epsilon | alpha epsilon | lower upper | epsilon | epsilon | epsilon | epsilon | order epsilon
    | first IH second IH']; cbn [region_limits parameters_hold promise_of at_limit] in *;
    try (apply existsb_exists in ok as (k & k_in & found); pose proof (precision_nonneg k k_in) as k_nonneg;
         unfold limit_at in found; cbv zeta in found).
  - destruct (exp_above (exactly epsilon) k) as [c|] eqn:is_c; [|discriminate].
    apply existsb_exists in found as (own & own_in & found). destruct (member own own_in) as (s & s_in & <-).
    exists s. split; [assumption|].
    apply (at_least_is k _ c _ (1, 1)%Z k_nonneg is_c (proj2 (signs s s_in)) eq_refl ltac:(simpl; lia)) in found.
    rewrite ratio_1, Rmult_1_r in found. exact found.
  - exact (norms alpha (exactly epsilon) ok).
  - destruct (exp_above (exactly upper) k) as [c|] eqn:is_c; [|discriminate].
    destruct (exp_below (Neg (exactly lower)) k) as [e|] eqn:is_e; [|discriminate].
    apply existsb_exists in found as (own & own_in & found). destruct (member own own_in) as (s & s_in & <-).
    exists s. split; [assumption|]. apply orb_true_iff in found as [found|found]; [left|right].
    + apply (at_least_is k _ c _ (1, 1)%Z k_nonneg is_c (proj2 (signs s s_in)) eq_refl ltac:(simpl; lia)) in found.
      rewrite ratio_1, Rmult_1_r in found. exact found.
    + apply (at_most_is k _ e _ (1, 1)%Z k_nonneg is_e (proj2 (signs s s_in)) eq_refl ltac:(simpl; lia)) in found.
      rewrite ratio_1, Rmult_1_r, eval_Neg in found. exact found.
  - destruct (exp_above (exactly epsilon) k) as [c|] eqn:is_c; [|discriminate].
    apply existsb_exists in found as (a & a_in & found). apply existsb_exists in found as (b & b_in & found).
    destruct (member a a_in) as (s & s_in & <-). destruct (member b b_in) as (s' & s'_in & <-).
    exists s, s'. repeat split; try assumption. destruct (signs s' s'_in) as [nonneg positive'].
    exact (at_least_is k _ c _ _ k_nonneg is_c (proj2 (signs s s_in)) positive' nonneg found).
  - destruct (exact _ (fun x => Rabs (x - 1)) distance_is) as [above is_mean]. destruct (twice_is epsilon) as [below is_most].
    apply not_above_is in ok; try assumption. rewrite is_mean, is_most in ok. exact ok.
  - destruct (exact _ (fun x => (x - 1) ^ 2) square_is) as [above is_mean]. destruct (squared_is epsilon) as [below is_most].
    apply not_above_is in ok; try assumption. rewrite is_mean, is_most in ok. exact ok.
  - apply decide_sound in ok. rewrite eval_Sub, (means _ (fun x => x * ln x) (fun a _ => own_log_is a)) in ok.
    change (eval (exactly epsilon)) with (number epsilon) in ok. lra.
  - apply andb_true_iff in hold as [order_gt _]. apply norms in ok. rewrite norm_budget_is in ok by assumption.
    apply number_gt_1 in order_gt. eapply Rle_trans; [|exact ok]. right. f_equal. field. lra.
  - apply andb_true_iff in hold as [hold hold']. apply orb_true_iff in ok as [ok|ok]; auto.
Qed.

Hypothesis two_secrets : length (counts f) = 2%nat.

Lemma mean_of_two g : mean J g = P_S J 0 * g 0%nat + P_S J 1 * g 1%nat.
Proof. unfold mean, mean_over. change (secrets J) with (length (counts f)). rewrite two_secrets. simpl. lra. Qed.

(** No allowed lifts lie beyond an end. *)
Lemma not_beyond one e l t :
  (0 < one)%Z -> outside f (lifts_at f one e) = true ->
  (forall s, (s < secrets J)%nat -> 0 <= l s) -> mean J l = 1 -> allows J q l ->
  0 <= t < 1 -> t * (l 0%nat - 1) = IZR e / IZR one -> e <> 0%Z -> False.
Proof.
  intros one_pos ok signs total allowed t_in is_end some. apply IZR_lt in one_pos as one_pos'.
  pose proof (J_is_joint f formed) as joint. destruct (region_parameters _ parameters_ok) as [proper budget].
  pose proof (N_pos f formed) as N_pos.
  pose proof (prior_pos f formed 0 ltac:(lia)) as first_pos. pose proof (prior_pos f formed 1 ltac:(lia)) as second_pos.
  assert (first_is : P_S J 0 * IZR (everybody f) = IZR (zsum (nth 0 (counts f) [])))
    by (unfold J; rewrite (P_S_is f formed) by lia; field; lra).
  assert (second_is : P_S J 1 * IZR (everybody f) = IZR (zsum (nth 1 (counts f) [])))
    by (unfold J; rewrite (P_S_is f formed) by lia; field; lra).
  assert (masses : P_S J 0 + P_S J 1 = 1).
  { pose proof (mean_const J joint 1) as ones. rewrite mean_of_two in ones. cbv beta in ones. lra. }
  rewrite mean_of_two in total.
  set (first := zsum (nth 0 (counts f) [])) in *. set (second := zsum (nth 1 (counts f) [])) in *.
  assert (snd_pos : (0 < second * one)%Z) by (apply Z.mul_pos_pos; [now apply lt_IZR | assumption]).
  assert (between : forall s, (s < secrets J)%nat ->
    ratio (nth s (lifts_at f one e) (0, 0)%Z) = 1 - t + t * l s /\ (0 < snd (nth s (lifts_at f one e) (0, 0)%Z))%Z).
  { intros s s_in. change (s < length (counts f))%nat in s_in. rewrite two_secrets in s_in.
    destruct s as [|[|s]]; [| |lia]; cbn [nth lifts_at]; cbv zeta; fold first second; cbn [snd]; split; try assumption;
      unfold ratio; cbn [fst snd].
    - rewrite plus_IZR. replace (IZR e) with (IZR e / IZR one * IZR one) by (field; lra). rewrite <- is_end. field. lra.
    - rewrite minus_IZR, !mult_IZR. replace (IZR e) with (IZR e / IZR one * IZR one) by (field; lra). rewrite <- is_end.
      rewrite <- first_is, <- second_is in *.
      assert (P_S J 1 <> 0) by (intros null; rewrite null in second_pos; lra).
      assert (own : P_S J 1 * (l 1%nat - 1) = - P_S J 0 * (l 0%nat - 1)) by lra.
      apply (Rmult_eq_reg_r (P_S J 1)); [|assumption].
      replace ((1 - t + t * l 1%nat) * P_S J 1) with (P_S J 1 + t * (P_S J 1 * (l 1%nat - 1))) by lra.
      rewrite own. field. repeat split; lra. }
  assert (positive : forall s, (s < secrets J)%nat -> (0 < fst (nth s (lifts_at f one e) (0, 0)%Z))%Z).
  { intros s s_in. destruct (between s s_in) as [is_ratio below]. specialize (signs s s_in).
    apply lt_IZR. apply IZR_lt in below. unfold ratio in is_ratio.
    assert (0 < IZR (fst (nth s (lifts_at f one e) (0, 0)%Z)) / IZR (snd (nth s (lifts_at f one e) (0, 0)%Z)))
      by (rewrite is_ratio; nra).
    apply (Rmult_lt_reg_r (/ IZR (snd (nth s (lifts_at f one e) (0, 0)%Z)))); [now apply Rinv_0_lt_compat|]. lra. }
  assert (lifts_n : length (lifts_at f one e) = length (counts f)) by (rewrite two_secrets; reflexivity).
  unfold outside in ok. repeat rewrite orb_true_iff in ok. destruct ok as [[ok|ok]|ok].
  - apply existsb_exists in ok as (own & own_in & below). apply Z.leb_le in below.
    apply (In_nth _ _ (0, 0)%Z) in own_in as (s & s_in & <-).
    specialize (positive s ltac:(change (s < length (counts f))%nat; lia)). lia.
  - assert (null : no_budget q) by now apply perfect_iff.
    pose proof (only_ones J joint q l proper null signs ltac:(now rewrite mean_of_two) allowed 0%nat) as one_only.
    rewrite one_only in is_end by (change (0 < length (counts f))%nat; lia).
    rewrite Rminus_diag_eq, Rmult_0_r in is_end by reflexivity.
    assert (IZR e = 0) as null_e by (replace (IZR e) with (IZR e / IZR one * IZR one) by (field; lra); rewrite <- is_end; lra).
    apply some. now apply eq_IZR.
  - destruct (perfect (region f)) eqn:zero.
    { assert (null : no_budget q) by now apply perfect_iff.
      pose proof (only_ones J joint q l proper null signs ltac:(now rewrite mean_of_two) allowed 0%nat) as one_only.
      rewrite one_only in is_end by (change (0 < length (counts f))%nat; lia).
      rewrite Rminus_diag_eq, Rmult_0_r in is_end by reflexivity.
      assert (IZR e = 0) as null_e by (replace (IZR e) with (IZR e / IZR one * IZR one) by (field; lra); rewrite <- is_end; lra).
      apply some. now apply eq_IZR. }
    apply limit_is in ok; [|assumption | | assumption].
    2: { apply Forall_forall. intros own own_in. apply (In_nth _ _ (0, 0)%Z) in own_in as (s & s_in & <-).
         assert (s_in' : (s < secrets J)%nat) by (change (s < length (counts f))%nat; lia).
         specialize (positive s s_in'). destruct (between s s_in'). lia. }
    apply (no_limit_between J q l t joint proper budget); try assumption.
    + unfold q. rewrite <- perfect_iff. congruence.
    + clear - ok between. unfold q in *. revert ok. generalize (promise_of (region f)). intros stated_q.
      assert (means : forall g : R -> R, mean J (fun s => g (ratio (nth s (lifts_at f one e) (0, 0)%Z))) =
        mean J (fun s => g (1 - t + t * l s))).
      { intros g. apply mean_same. intros s s_in. f_equal. now apply between. }
      induction stated_q as [epsilon | alpha epsilon | lower upper | epsilon | epsilon | epsilon | epsilon | order epsilon
        | first' IH second' IH']; cbn [at_limit].
      * intros (s & s_in & above). exists s. split; [assumption|]. now rewrite <- (proj1 (between s s_in)).
      * now rewrite (means (fun x => power x alpha)).
      * intros (s & s_in & above). exists s. split; [assumption|]. now rewrite <- (proj1 (between s s_in)).
      * intros (s & s' & s_in & s'_in & above). exists s, s'. repeat split; try assumption.
        now rewrite <- (proj1 (between s s_in)), <- (proj1 (between s' s'_in)).
      * now rewrite (means (fun x => Rabs (x - 1))).
      * now rewrite (means (fun x => (x - 1) ^ 2)).
      * now rewrite (means (fun x => x * ln x)).
      * now rewrite (means (fun x => power x order)).
      * intros [limit|limit]; auto.
Qed.

(** A symbol's deviation, as the program has it. *)
Let d (x : nat) : R := P_S_given J 0 x / P_S J 0 - 1.

Lemma deviation_in u x :
  length u = size f -> (x < size f)%nat ->
  exists a b, In (a, b, nth x u 0%Z) (deviations f u) /\ (0 < b)%Z /\ d x = IZR a / IZR b.
Proof.
  intros u_n x_in. pose proof (columns_n f formed) as columns_n. pose proof (N_pos f formed) as N_pos.
  pose proof (prior_pos f formed 0 ltac:(lia)) as first_pos. pose proof (column_pos f formed x x_in) as column_pos.
  assert (row_n : length (nth 0 (counts f) []) = size f) by (apply (formed_parts f formed), nth_In; lia).
  set (first := zsum (nth 0 (counts f) [])) in *.
  exists (nth x (nth 0 (counts f) []) 0 * everybody f - first * nth x (columns f) 0)%Z, (first * nth x (columns f) 0)%Z.
  repeat split.
  - unfold deviations. cbv zeta. fold first. apply in_map_iff.
    exists (nth x (columns f) 0%Z, nth x (nth 0 (counts f) []) 0%Z, nth x u 0%Z). split; [reflexivity|].
    rewrite <- (combine_nth (columns f) (nth 0 (counts f) []) x 0%Z 0%Z) by lia.
    rewrite <- (combine_nth _ u x (0, 0)%Z 0%Z) by (rewrite combine_length; lia).
    apply nth_In. rewrite !combine_length. lia.
  - apply Z.mul_pos_pos; now apply lt_IZR.
  - unfold d, P_S_given, J. rewrite (P_X_is f formed), (P_S_is f formed) by (trivial; lia). fold first. cbn [mass joint_of]. unfold entry.
    rewrite minus_IZR, !mult_IZR. field. repeat split; lra.
Qed.

Theorem pairs_least k u low high threshold :
  pairs_hold f k u low high threshold = true ->
  forall V, is_posterior J V -> allows J q (lift_of J V) ->
  IZR threshold / IZR (two k) ^ 2 <= entropy (size f) V - Duality.dot J (real (two k) u) V.
Proof.
  intros ok V V_is allowed. unfold pairs_hold in ok. cbv zeta in ok. repeat rewrite andb_true_iff in ok.
  destruct ok as (((((((_ & u_n) & low_neg) & high_pos) & low_out) & high_out) & each) & both).
  apply Nat.eqb_eq in u_n. apply Z.ltb_lt in low_neg, high_pos. rewrite forallb_forall in each, both.
  pose proof (two_pos k) as unit_pos. assert (one_pos : (0 < two k)%Z) by now apply lt_IZR.
  set (one := two k) in *. set (unit := IZR one) in *.
  pose proof (J_is_joint f formed) as joint.
  apply (least_of_pairs (size f) d (real one u) _ (IZR low / unit) (IZR high / unit)).
  - intros x x_in [from to]. destruct (deviation_in u x u_n x_in) as (a & b & member & b_pos & is_d).
    specialize (each _ member). cbv beta iota in each. repeat rewrite orb_true_iff in each.
    apply IZR_lt in b_pos as b_pos'.
    assert (scaled : d x * (IZR b * unit) = IZR a * unit) by (rewrite is_d; field; lra).
    assert (wide : 0 < IZR b * unit) by now apply Rmult_lt_0_compat.
    apply (Rmult_le_compat_r (IZR b * unit)) in from; [|lra]. apply (Rmult_le_compat_r (IZR b * unit)) in to; [|lra].
    replace (IZR low / unit * (IZR b * unit)) with (IZR low * IZR b) in from by (field; lra).
    replace (IZR high / unit * (IZR b * unit)) with (IZR high * IZR b) in to by (field; lra).
    destruct each as [[each|each]|each].
    + exfalso. apply Z.ltb_lt, IZR_lt in each. rewrite !mult_IZR in each. fold unit in each. lra.
    + exfalso. apply Z.ltb_lt, IZR_lt in each. rewrite !mult_IZR in each. fold unit in each. lra.
    + apply Z.leb_le, IZR_le in each. rewrite mult_IZR, opp_IZR in each. fold unit in each. unfold real. fold unit.
      apply (Rmult_le_reg_r (unit ^ 2)); [nra|].
      replace (IZR threshold / unit ^ 2 * unit ^ 2) with (IZR threshold) by (field; lra).
      replace (- (IZR (nth x u 0%Z) / unit) * unit ^ 2) with (- IZR (nth x u 0%Z) * unit) by (field; lra). lra.
  - intros e x y is_e x_in y_in [left right].
    assert (found : exists e', e = IZR e' / unit /\ In e' [low; high])
      by (destruct is_e as [->| ->]; [exists low | exists high]; simpl; auto).
    destruct found as (e' & -> & e_in). specialize (both e' e_in).
    destruct (deviation_in u x u_n x_in) as (a & b & member & b_pos & d_x).
    destruct (deviation_in u y u_n y_in) as (a' & b' & member' & b'_pos & d_y).
    rewrite forallb_forall in both. specialize (both _ member). cbv beta iota zeta in both.
    apply IZR_lt in b_pos as b_pos'. apply IZR_lt in b'_pos as b'_pos'.
    set (down := (e' * b - a * one)%Z) in *. set (up := (a' * one - e' * b')%Z) in *.
    assert (down_is : IZR down = (IZR e' / unit - d x) * (IZR b * unit)).
    { unfold down. rewrite d_x, minus_IZR, !mult_IZR. fold unit. field. lra. }
    assert (up_is : IZR up = (d y - IZR e' / unit) * (IZR b' * unit)).
    { unfold up. rewrite d_y, minus_IZR, !mult_IZR. fold unit. field. lra. }
    assert (down_pos : 0 < IZR down) by (rewrite down_is; apply Rmult_lt_0_compat; [lra | now apply Rmult_lt_0_compat]).
    assert (up_pos : 0 < IZR up) by (rewrite up_is; apply Rmult_lt_0_compat; [lra | now apply Rmult_lt_0_compat]).
    apply orb_true_iff in both as [both|both]; [apply Z.leb_le, IZR_le in both; lra|].
    rewrite forallb_forall in both. specialize (both _ member'). cbv beta iota zeta in both. fold up in both.
    apply orb_true_iff in both as [both|both]; [apply Z.leb_le, IZR_le in both; lra|].
    apply decide_sound in both. rewrite !eval_Sub in both. cbn [eval phi_of] in both. fold one in both.
    rewrite !mult_IZR, !plus_IZR, !mult_IZR, !opp_IZR, !mult_IZR in both. fold unit in both.
    set (A := IZR down * IZR b') in *. set (B := IZR up * IZR b) in *.
    assert (A_pos : 0 < A) by now apply Rmult_lt_0_compat. assert (B_pos : 0 < B) by now apply Rmult_lt_0_compat.
    assert (share_is : share d x y (IZR e' / unit) = A / (A + B)).
    { unfold share, A, B. rewrite down_is, up_is.
      apply (Rmult_eq_reg_r (d y - d x)); [|lra]. field. repeat split; nra. }
    rewrite share_is. unfold mixed, phi, real. fold unit.
    replace (1 - A / (A + B)) with (B / (A + B)) by (field; lra).
    replace (IZR threshold / unit ^ 2) with (IZR threshold / (unit * unit)) by (field; lra).
    replace ((B * IZR (nth x u 0%Z) + A * IZR (nth y u 0%Z)) / ((A + B) * unit))
      with (B / (A + B) * (IZR (nth x u 0%Z) / unit) + A / (A + B) * (IZR (nth y u 0%Z) / unit)) in both by (field; lra).
    unfold Rdiv in *. lra.
  - apply V_is.
  - apply V_is.
  - assert (total := mean_lift_1 J joint V V_is).
    assert (signs : forall s, (s < secrets J)%nat -> 0 <= lift_of J V s) by (intros s s_in; now apply lift_nonneg).
    assert (is_lift : sum (size f) (fun x => V x * d x) = lift_of J V 0 - 1).
    { unfold lift_of, d. destruct V_is as [_ V_total]. change (symbols J) with (size f) in *.
      rewrite (sum_ext _ _ (fun x => V x * P_S_given J 0 x * / P_S J 0 - V x)) by (intros; unfold Rdiv; lra).
      rewrite sum_minus, sum_scale_r, V_total. reflexivity. }
    rewrite is_lift. set (D := lift_of J V 0 - 1) in *.
    assert (low_end : IZR low / unit < 0).
    { apply IZR_lt in low_neg. unfold Rdiv. assert (0 < / unit) by now apply Rinv_0_lt_compat. nra. }
    assert (high_end : 0 < IZR high / unit) by (apply IZR_lt in high_pos; now apply Rdiv_lt_0_compat).
    split; apply Rnot_lt_le; intros beyond.
    + apply (not_beyond one low (lift_of J V) (IZR low / unit / D)); try assumption; [|fold D; fold unit; field; lra | lia].
      split; [|apply (Rmult_lt_reg_r (- D)); [lra|]; replace (IZR low / unit / D * - D) with (- (IZR low / unit)) by (field; lra); lra].
      replace (IZR low / unit / D) with (- (IZR low / unit) * / - D) by (field; lra).
      apply Rmult_le_pos; [lra | apply Rlt_le, Rinv_0_lt_compat; lra].
    + apply (not_beyond one high (lift_of J V) (IZR high / unit / D)); try assumption; [|fold D; fold unit; field; lra | lia].
      split; [apply Rmult_le_pos; [lra | apply Rlt_le, Rinv_0_lt_compat; lra]|].
      apply (Rmult_lt_reg_r D); [lra|]. replace (IZR high / unit / D * D) with (IZR high / unit) by (field; lra). lra.
Qed.

End File.
