(** The integers keep the promise (docs/theory.md, step 2). *)

From Coq Require Import Reals Lra Lia List ZArith Bool.
From Alphalift Require Import Sums Problem Duality Powers Support Perfect Arithmetic Cover Checker Meaning Integers.
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

Fixpoint has_budget (q : promise) : Prop :=
  match q with
  | LIP lower upper => 0 <= lower /\ 0 <= upper
  | Both first second => has_budget first /\ has_budget second
  | MaxLift epsilon | AlphaLift _ epsilon | LDP epsilon | TotalVariation epsilon | ChiSquare epsilon | KL epsilon
  | Renyi _ epsilon => 0 <= epsilon
  end.

Lemma region_parameters region :
  parameters_hold region = true -> is_promise (promise_of region) /\ has_budget (promise_of region).
Proof.
  induction region; simpl; intros ok; repeat rewrite andb_true_iff in ok; repeat split;
    try apply number_gt_1; try apply number_nonneg; tauto.
Qed.

Lemma perfect_iff region : perfect region = true <-> no_budget (promise_of region).
Proof.
  assert (null : forall d, (digits d =? 0)%Z = true <-> number d = 0).
  { intros d. rewrite Z.eqb_eq. pose proof (scale_pos d) as positive. apply IZR_lt in positive. unfold number.
    split; [intros ->; unfold Rdiv; now rewrite Rmult_0_l|]. intros zero. apply eq_IZR.
    replace (IZR (digits d)) with (IZR (digits d) / IZR (scale d) * IZR (scale d)) by (field; lra). rewrite zero. lra. }
  induction region as [| | | | | | | |first IH second IH']; cbn [perfect no_budget promise_of]; rewrite ?orb_true_iff, ?null;
    try tauto.
Qed.

Lemma norm_budget_is order epsilon :
  (scale order <? digits order)%Z = true ->
  eval (norm_budget order epsilon) = number epsilon * (number order - 1) / number order.
Proof.
  intros above. apply Z.ltb_lt, IZR_lt in above. pose proof (scale_pos order) as positive. apply IZR_lt in positive.
  pose proof (scale_pos epsilon) as positive'. apply IZR_lt in positive'.
  unfold norm_budget, number. cbn [eval exactly]. rewrite minus_IZR. field. lra.
Qed.

(** Lifts that are all 1 keep every promise. *)
Lemma nothing_told J q l :
  is_joint J -> is_promise q ->
  has_budget q ->
  (forall s, (s < secrets J)%nat -> l s = 1) -> allows J q l.
Proof.
  intros joint proper nonneg ones. unfold allows. induction q as [epsilon | alpha epsilon | lower upper | epsilon | epsilon | epsilon | epsilon | order epsilon
    | first IH second IH']; simpl in *.
  - intros s s_in _. rewrite ones by assumption. now apply exp_ge_1.
  - unfold mean_over. rewrite (sum_ext _ _ (P_S J)).
    + destruct joint as (_ & _ & _ & ->). rewrite power_pos by lra. rewrite ln_1, Rmult_0_r, exp_0. now apply exp_ge_1.
    + intros s s_in. rewrite ones by assumption. rewrite power_pos by lra. rewrite ln_1, Rmult_0_r, exp_0. lra.
  - intros s s_in _. rewrite ones by assumption. split; [|now apply exp_ge_1].
    rewrite <- exp_0. apply exp_le. lra.
  - intros s s' s_in s'_in _ _. rewrite !ones by assumption. pose proof (exp_ge_1 epsilon nonneg). lra.
  - unfold mean_over. rewrite (sum_ext _ _ (fun _ => 0)), sum_zero; [lra|].
    intros s s_in. rewrite ones by assumption. rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. lra.
  - unfold mean_over. rewrite (sum_ext _ _ (fun _ => 0)), sum_zero; [nra|].
    intros s s_in. rewrite ones by assumption. lra.
  - unfold mean_over. rewrite (sum_ext _ _ (fun _ => 0)), sum_zero; [lra|].
    intros s s_in. rewrite ones by assumption. rewrite ln_1. lra.
  - unfold mean_over. rewrite (sum_ext _ _ (P_S J)).
    + destruct joint as (_ & _ & _ & ->). apply exp_ge_1. apply Rmult_le_pos; lra.
    + intros s s_in. rewrite ones by assumption. rewrite power_pos by lra. rewrite ln_1, Rmult_0_r, exp_0. lra.
  - destruct proper, nonneg. auto.
Qed.

Lemma mean_of_is term prior lifts total :
  length lifts = length prior ->
  eval (mean_of term prior lifts total) =
  sum (length prior) (fun s => IZR (nth s prior 0%Z) / IZR total * eval (term (nth s lifts (0, 0)%Z))).
Proof.
  revert lifts. induction prior as [|p prior IH]; intros [|lift lifts] same; try discriminate; [reflexivity|].
  cbn [length mean_of]. rewrite sum_first. cbn [nth eval]. now rewrite (IH lifts) by (simpl in same; lia).
Qed.

(** Fractions of integers, compared exactly. *)
Definition ratio (a : Z * Z) : R := IZR (fst a) / IZR (snd a).

Lemma distance_is a : (0 < snd a)%Z -> (0 < snd (distance a))%Z /\ ratio (distance a) = Rabs (ratio a - 1).
Proof.
  intros positive. split; [exact positive|]. apply IZR_lt in positive. unfold ratio at 1. cbn [fst snd distance].
  rewrite abs_IZR, minus_IZR.
  replace (ratio a - 1) with ((IZR (fst a) - IZR (snd a)) * / IZR (snd a)) by (unfold ratio; field; lra).
  rewrite Rabs_mult, (Rabs_pos_eq (/ _)); [reflexivity|]. now apply Rlt_le, Rinv_0_lt_compat.
Qed.

Lemma square_is a : (0 < snd a)%Z -> (0 < snd (square a))%Z /\ ratio (square a) = (ratio a - 1) ^ 2.
Proof.
  intros positive. split; [now apply Z.mul_pos_pos|]. apply IZR_lt in positive. unfold ratio. cbn [fst snd square].
  rewrite !mult_IZR, minus_IZR. field. lra.
Qed.

Lemma not_above_is a b : (0 < snd a)%Z -> (0 < snd b)%Z -> not_above a b = true -> ratio a <= ratio b.
Proof.
  intros a_pos b_pos ok. apply Z.leb_le, IZR_le in ok. rewrite !mult_IZR in ok. apply IZR_lt in a_pos, b_pos.
  apply (Rmult_le_reg_r (IZR (snd a) * IZR (snd b))); [now apply Rmult_lt_0_compat|].
  replace (ratio a * (IZR (snd a) * IZR (snd b))) with (IZR (fst a) * IZR (snd b)) by (unfold ratio; field; lra).
  replace (ratio b * (IZR (snd a) * IZR (snd b))) with (IZR (fst b) * IZR (snd a)) by (unfold ratio; field; lra). exact ok.
Qed.

Lemma exact_mean_is term g prior lifts total :
  (forall a, (0 < snd a)%Z -> (0 < snd (term a))%Z /\ ratio (term a) = g (ratio a)) -> (0 < total)%Z ->
  length lifts = length prior -> Forall (fun lift => 0 <= fst lift /\ 0 < snd lift)%Z lifts ->
  (0 < snd (exact_mean term prior lifts total))%Z /\
  ratio (exact_mean term prior lifts total) =
  sum (length prior) (fun s => IZR (nth s prior 0%Z) / IZR total * g (ratio (nth s lifts (0, 0)%Z))).
Proof.
  intros is_g total_pos same signs. revert lifts same signs.
  induction prior as [|p prior IH]; intros [|lift lifts] same signs; try discriminate.
  { split; [reflexivity|]. unfold ratio. simpl. lra. }
  apply Forall_cons_iff in signs as [[_ below] signs]. cbn [length exact_mean]. rewrite sum_first. cbn [nth].
  destruct (IH lifts ltac:(simpl in same; lia) signs) as [rest_pos rest_is]. rewrite <- rest_is.
  destruct (is_g lift below) as [own_pos own_is]. rewrite <- own_is.
  destruct (term lift) as [a b], (exact_mean term prior lifts total) as [c d]. cbn [snd] in *.
  split; [now repeat apply Z.mul_pos_pos|]. unfold ratio. cbn [fst snd].
  apply IZR_lt in total_pos, own_pos, rest_pos. rewrite plus_IZR, !mult_IZR. field. lra.
Qed.

(** The sides of total variation and chi-square are fractions, and compared exactly. *)
Lemma twice_is epsilon : (0 < snd (twice epsilon))%Z /\ ratio (twice epsilon) = 2 * number epsilon.
Proof.
  pose proof (scale_pos epsilon) as positive. split; [exact positive|]. apply IZR_lt in positive.
  unfold ratio, twice, number. cbn [fst snd]. rewrite mult_IZR. field. lra.
Qed.

Lemma squared_is epsilon : (0 < snd (squared epsilon))%Z /\ ratio (squared epsilon) = number epsilon ^ 2.
Proof.
  pose proof (scale_pos epsilon) as positive. split; [now apply Z.mul_pos_pos|]. apply IZR_lt in positive.
  unfold ratio, squared, number. cbn [fst snd]. rewrite !mult_IZR. field. lra.
Qed.

Lemma own_log_is a : eval (own_log a) = ratio a * ln (ratio a).
Proof.
  unfold own_log, ratio. destruct (Z.eqb_spec (fst a) 0) as [->|_]; cbn [eval]; [|reflexivity].
  unfold Rdiv. rewrite !Rmult_0_l. reflexivity.
Qed.

Lemma ratio_1 : ratio (1, 1)%Z = 1.
Proof. unfold ratio. simpl. field. Qed.

Lemma scaled_ratio a x : (0 < snd a)%Z -> ratio a * (IZR (snd a) * x) = IZR (fst a) * x.
Proof. intros positive. apply IZR_lt in positive. unfold ratio. field. lra. Qed.

Lemma at_most_is k x e a b :
  (0 <= k)%Z -> exp_below x k = Some e -> (0 < snd a)%Z -> (0 < snd b)%Z -> (0 <= fst b)%Z ->
  at_most_times (2 ^ k) e a b = true -> ratio a <= exp (eval x) * ratio b.
Proof.
  intros k_nonneg found a_pos b_pos b_nonneg ok. apply floor_below in found; [|assumption]. cbn [eval] in found.
  apply Z.leb_le, IZR_le in ok. rewrite !mult_IZR in ok.
  assert (unit : 0 < IZR (2 ^ k)) by (apply IZR_lt, Z.pow_pos_nonneg; lia).
  apply IZR_le in b_nonneg. pose proof (IZR_lt _ _ a_pos). pose proof (IZR_lt _ _ b_pos).
  apply (Rmult_le_reg_r (IZR (snd a) * (IZR (snd b) * IZR (2 ^ k)))); [repeat apply Rmult_lt_0_compat; assumption|].
  rewrite scaled_ratio by assumption.
  replace (exp (eval x) * ratio b * (IZR (snd a) * (IZR (snd b) * IZR (2 ^ k))))
    with (exp (eval x) * IZR (2 ^ k) * (IZR (fst b) * IZR (snd a))) by (unfold ratio; field; lra).
  apply Rle_trans with (IZR e * (IZR (fst b) * IZR (snd a))); [lra|].
  apply Rmult_le_compat_r; [|assumption]. apply Rmult_le_pos; lra.
Qed.

Lemma at_least_is k x c a b :
  (0 <= k)%Z -> exp_above x k = Some c -> (0 < snd a)%Z -> (0 < snd b)%Z -> (0 <= fst b)%Z ->
  at_least_times (2 ^ k) c a b = true -> exp (eval x) * ratio b <= ratio a.
Proof.
  intros k_nonneg found a_pos b_pos b_nonneg ok. apply ceiling_above in found; [|assumption]. cbn [eval] in found.
  apply Z.leb_le, IZR_le in ok. rewrite !mult_IZR in ok.
  assert (unit : 0 < IZR (2 ^ k)) by (apply IZR_lt, Z.pow_pos_nonneg; lia).
  apply IZR_le in b_nonneg. pose proof (IZR_lt _ _ a_pos). pose proof (IZR_lt _ _ b_pos).
  apply (Rmult_le_reg_r (IZR (snd a) * (IZR (snd b) * IZR (2 ^ k)))); [repeat apply Rmult_lt_0_compat; assumption|].
  rewrite scaled_ratio by assumption.
  replace (exp (eval x) * ratio b * (IZR (snd a) * (IZR (snd b) * IZR (2 ^ k))))
    with (exp (eval x) * IZR (2 ^ k) * (IZR (fst b) * IZR (snd a))) by (unfold ratio; field; lra).
  apply Rle_trans with (IZR c * (IZR (fst b) * IZR (snd a))); [|lra].
  apply Rmult_le_compat_r; [|assumption]. apply Rmult_le_pos; lra.
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

Lemma parameters : promise_holds f = true -> is_promise q /\ has_budget q.
Proof.
  intros ok. unfold promise_holds in ok. apply andb_true_iff in ok as [ok _]. now apply region_parameters.
Qed.

Lemma occur : promise_holds f = true ->
  forall y, (y < length (weights f))%nat -> (0 < mass_of f (nth y (rows f) []))%Z.
Proof.
  intros ok y y_in. unfold promise_holds in ok. apply andb_true_iff in ok as [_ ok]. rewrite forallb_forall in ok.
  specialize (ok _ (in_rows y y_in)). apply andb_true_iff in ok as [ok _]. now apply Z.ltb_lt.
Qed.

(** Lifts are the fractions that the program has. *)
Lemma own_lift y s :
  (y < length (weights f))%nat -> (s < length (counts f))%nat -> (0 < mass_of f (nth y (rows f) []))%Z ->
  exists own, In own (lifts_of f (nth y (rows f) [])) /\ (0 <= fst own)%Z /\ (0 < snd own)%Z /\ lift J W y s = ratio own.
Proof.
  intros y_in s_in occurs. pose proof (lifts_signs y y_in occurs) as signs. rewrite Forall_forall in signs.
  destruct (lifts_are f formed y s y_in s_in occurs) as [_ is_lift].
  assert (member : In (nth s (lifts_of f (nth y (rows f) [])) (0, 0)%Z) (lifts_of f (nth y (rows f) [])))
    by (apply nth_In; now rewrite lifts_length).
  eexists. repeat split; [exact member | now apply signs | now apply signs | exact is_lift].
Qed.

Lemma precision_nonneg k : In k [128; 1024; 8192]%Z -> (0 <= k)%Z.
Proof. simpl. lia. Qed.

Lemma kept_at_is region y k :
  (y < length (weights f))%nat -> (0 < mass_of f (nth y (rows f) []))%Z -> (0 <= k)%Z ->
  kept_at region (lifts_of f (nth y (rows f) [])) k = true -> allows J (promise_of region) (lift J W y).
Proof.
  intros y_in occurs k_nonneg ok. unfold kept_at in ok. cbv zeta in ok.
  destruct region as [epsilon | alpha epsilon | lower upper | epsilon | | | | | ]; try discriminate.
  - destruct (exp_below (exactly epsilon) k) as [e|] eqn:is_e; [|discriminate]. rewrite forallb_forall in ok.
    intros s s_in _. destruct (own_lift y s y_in s_in occurs) as (own & member & _ & own_pos & ->).
    pose proof (at_most_is k _ e own (1, 1)%Z k_nonneg is_e own_pos eq_refl ltac:(simpl; lia) (ok own member)) as below.
    rewrite ratio_1, Rmult_1_r in below. exact below.
  - destruct (exp_below (exactly upper) k) as [e|] eqn:is_e; [|discriminate].
    destruct (exp_above (Neg (exactly lower)) k) as [c|] eqn:is_c; [|discriminate]. rewrite forallb_forall in ok.
    intros s s_in _. destruct (own_lift y s y_in s_in occurs) as (own & member & _ & own_pos & ->).
    specialize (ok own member). apply andb_true_iff in ok as [below above].
    apply (at_most_is k _ e own (1, 1)%Z k_nonneg is_e own_pos eq_refl ltac:(simpl; lia)) in below.
    apply (at_least_is k _ c own (1, 1)%Z k_nonneg is_c own_pos eq_refl ltac:(simpl; lia)) in above.
    rewrite ratio_1, Rmult_1_r in below, above. rewrite eval_Neg in above. split; [exact above | exact below].
  - destruct (exp_below (exactly epsilon) k) as [e|] eqn:is_e; [|discriminate]. rewrite forallb_forall in ok.
    intros s s' s_in s'_in _ _.
    destruct (own_lift y s y_in s_in occurs) as (a & a_in & _ & a_pos & ->).
    destruct (own_lift y s' y_in s'_in occurs) as (b & b_in & b_nonneg & b_pos & ->).
    specialize (ok a a_in). rewrite forallb_forall in ok.
    exact (at_most_is k _ e a b k_nonneg is_e a_pos b_pos b_nonneg (ok b b_in)).
Qed.

(** E l^alpha of an output. *)
Lemma norm_keeps_is y alpha budget :
  (y < length (weights f))%nat -> (0 < mass_of f (nth y (rows f) []))%Z ->
  norm_keeps f alpha budget (lifts_of f (nth y (rows f) [])) = true ->
  mean J (fun s => power (lift J W y s) (number alpha)) <= exp (number alpha * eval budget).
Proof.
  intros y_in occurs ok. apply decide_sound in ok. rewrite eval_Sub in ok. cbn [eval] in ok.
  change (eval (exactly alpha)) with (number alpha) in ok.
  rewrite power_mean_is in ok.
  - change (eval (exactly alpha)) with (number alpha) in ok. unfold mean, mean_over. simpl. fold J W.
    match type of ok with 0 <= _ - ?m => enough (sum (length (counts f)) (fun s =>
      P_S J s * power (lift J W y s) (number alpha)) = m) as same by (rewrite same; lra) end.
    unfold prior. rewrite map_length. apply sum_ext. intros s s_in.
    destruct (lifts_are f formed y s y_in s_in occurs) as [_ is_lift]. unfold J, W. rewrite is_lift.
    rewrite P_S_is by assumption. rewrite (nth_indep _ 0%Z (zsum [])) by (now rewrite map_length).
    now rewrite map_nth.
  - unfold prior. now rewrite lifts_length, map_length.
  - now apply lifts_signs.
Qed.

Lemma region_keeps_is y region :
  (y < length (weights f))%nat -> (0 < mass_of f (nth y (rows f) []))%Z -> parameters_hold region = true ->
  region_keeps f region (lifts_of f (nth y (rows f) [])) = true -> allows J (promise_of region) (lift J W y).
Proof.
  intros y_in occurs hold ok.
  assert (means : forall term g, (forall a, (0 < snd a)%Z -> eval (term a) = g (ratio a)) ->
    eval (mean_of term (prior f) (lifts_of f (nth y (rows f) [])) (everybody f)) = mean J (fun s => g (lift J W y s))).
  { intros term g is_g. rewrite mean_of_is by (unfold prior; now rewrite lifts_length, map_length).
    unfold prior. rewrite map_length. unfold mean, mean_over. apply sum_ext. intros s s_in.
    change (s < length (counts f))%nat in s_in.
    destruct (lifts_are f formed y s y_in s_in occurs) as [positive is_lift]. unfold J, W. rewrite is_lift.
    rewrite P_S_is by assumption. rewrite is_g by assumption. rewrite (nth_indep _ 0%Z (zsum [])) by (now rewrite map_length).
    now rewrite map_nth. }
  assert (exact : forall term g, (forall a, (0 < snd a)%Z -> (0 < snd (term a))%Z /\ ratio (term a) = g (ratio a)) ->
    (0 < snd (exact_mean term (prior f) (lifts_of f (nth y (rows f) [])) (everybody f)))%Z /\
    ratio (exact_mean term (prior f) (lifts_of f (nth y (rows f) [])) (everybody f)) = mean J (fun s => g (lift J W y s))).
  { intros term g is_g. destruct (exact_mean_is term g (prior f) (lifts_of f (nth y (rows f) [])) (everybody f) is_g) as [positive ->].
    - apply lt_IZR. now apply N_pos.
    - unfold prior. now rewrite lifts_length, map_length.
    - now apply lifts_signs.
    - split; [exact positive|]. unfold prior. rewrite map_length. unfold mean, mean_over. apply sum_ext. intros s s_in.
      destruct (lifts_are f formed y s y_in s_in occurs) as [_ is_lift]. unfold J, W. rewrite is_lift.
      rewrite P_S_is by assumption. rewrite (nth_indep _ 0%Z (zsum [])) by (now rewrite map_length). now rewrite map_nth. }
  assert (nonneg : forall a, 0 <= mean J (fun s => power (lift J W y s) a))
    by (intros a; apply mean_nonneg; [now apply J_is_joint | intros; apply power_nonneg]).
  induction region as [epsilon | alpha epsilon | lower upper | epsilon | epsilon | epsilon | epsilon | order epsilon
    | first IH second IH']; cbn [region_keeps parameters_hold promise_of] in *;
    try (apply existsb_exists in ok as (k & k_in & found);
         exact (kept_at_is _ y k y_in occurs (precision_nonneg k k_in) found)).
  - apply andb_true_iff in hold as [order_gt _]. apply number_gt_1 in order_gt.
    apply norm_below; [assumption | apply nonneg | exact (norm_keeps_is y alpha _ y_in occurs ok)].
  - destruct (exact _ (fun x => Rabs (x - 1)) distance_is) as [positive is_mean]. destruct (twice_is epsilon) as [below is_most].
    apply not_above_is in ok; try assumption. rewrite is_mean, is_most in ok.
    change (mean J (fun s => Rabs (lift J W y s - 1)) / 2 <= number epsilon). lra.
  - destruct (exact _ (fun x => (x - 1) ^ 2) square_is) as [positive is_mean]. destruct (squared_is epsilon) as [below is_most].
    apply not_above_is in ok; try assumption. rewrite is_mean, is_most in ok. exact ok.
  - apply decide_sound in ok. rewrite eval_Sub, (means _ (fun x => x * ln x) (fun a _ => own_log_is a)) in ok.
    change (eval (exactly epsilon)) with (number epsilon) in ok.
    change (mean J (fun s => lift J W y s * ln (lift J W y s)) <= number epsilon). lra.
  - apply andb_true_iff in hold as [order_gt _].
    pose proof (norm_keeps_is y order _ y_in occurs ok) as below. rewrite norm_budget_is in below by assumption.
    apply number_gt_1 in order_gt.
    change (mean J (fun s => power (lift J W y s) (number order)) <= exp ((number order - 1) * number epsilon)).
    eapply Rle_trans; [exact below|]. right. f_equal. field. lra.
  - apply andb_true_iff in hold as [hold hold']. apply andb_true_iff in ok as [ok ok'].
    split; [now apply IH | now apply IH'].
Qed.

Theorem promise_kept : promise_holds f = true -> is_promise q /\ keeps J q W.
Proof.
  intros ok. destruct (parameters ok) as [proper budget]. split; [exact proper|].
  intros y y_in _. simpl in y_in. pose proof (occur ok y y_in) as occurs.
  unfold promise_holds in ok. apply andb_true_iff in ok as [hold ok]. rewrite forallb_forall in ok.
  specialize (ok _ (in_rows y y_in)). apply andb_true_iff in ok as [_ ok]. unfold output_keeps in ok.
  apply orb_true_iff in ok as [nothing|ok]; [|now apply region_keeps_is].
  apply nothing_told; try assumption; [now apply J_is_joint|]. intros s s_in. now apply tells_nothing_is.
Qed.

End File.
