(** Drawing with K random bits is exact: each output has its integer's share of the 2^K words (docs/release.md). *)

From Coq Require Import Reals Lra Lia List ZArith Bool.
From Alphalift Require Import Sums Problem Arithmetic Checker Meaning Integers.
Import ListNotations.
Open Scope Z_scope.

Lemma zsum_nonneg l : Forall (Z.le 0) l -> 0 <= zsum l.
Proof. induction 1; simpl; lia. Qed.

Lemma none_passed word passed column :
  Forall (Z.le 0) column -> word < passed -> filter (fun edge => edge <=? word) (cumulated passed column) = [].
Proof.
  intros signs. revert passed. induction signs as [|w column w_nonneg _ IH]; intros passed above; [reflexivity|]. simpl.
  destruct (Z.leb_spec (passed + w) word); [lia|]. apply IH. lia.
Qed.

(** The words that are answered with y are those between two cumulated integers. *)
Lemma between_edges column word passed y :
  Forall (Z.le 0) column -> passed <= word < passed + zsum column ->
  length (filter (fun edge => edge <=? word) (cumulated passed column)) = y <->
  passed + zsum (firstn y column) <= word < passed + zsum (firstn (S y) column).
Proof.
  intros signs. revert passed y. induction signs as [|w column w_nonneg signs IH]; intros passed y inside; [simpl in inside; lia|].
  cbn [cumulated filter]. change (zsum (w :: column)) with (w + zsum column) in inside.
  assert (first : forall n, 0 <= zsum (firstn n column)).
  { intros n. apply zsum_nonneg. apply Forall_forall. intros z member. rewrite Forall_forall in signs. apply signs.
    rewrite <- (firstn_skipn n column). apply in_or_app. now left. }
  destruct (Z.leb_spec (passed + w) word) as [over|within].
  - cbn [length]. destruct y as [|y].
    + cbn [firstn zsum fold_right]. split; [discriminate | lia].
    + rewrite !firstn_cons. specialize (IH (passed + w) y ltac:(lia)). split; intros given.
      * injection given as given. apply IH in given. change (zsum (w :: firstn y column)) with (w + zsum (firstn y column)).
        change (zsum (w :: firstn (S y) column)) with (w + zsum (firstn (S y) column)). lia.
      * f_equal. apply IH. change (zsum (w :: firstn y column)) with (w + zsum (firstn y column)) in given.
        change (zsum (w :: firstn (S y) column)) with (w + zsum (firstn (S y) column)) in given. lia.
  - rewrite none_passed by (trivial; lia). cbn [length]. destruct y as [|y].
    + cbn [firstn zsum fold_right]. split; [lia | reflexivity].
    + rewrite !firstn_cons. change (zsum (w :: firstn y column)) with (w + zsum (firstn y column)).
      specialize (first y). split; [discriminate | lia].
Qed.

Lemma words_between a b n :
  0 <= a ->
  Z.of_nat (length (filter (fun word => (a <=? word) && (word <? b)) (map Z.of_nat (seq 0 n)))) =
  Z.max 0 (Z.min b (Z.of_nat n) - a).
Proof.
  intros a_nonneg. induction n as [|n IH]; [simpl; lia|].
  rewrite seq_S, map_app, filter_app, app_length, Nat2Z.inj_add, IH. cbn [Nat.add map filter].
  destruct (Z.leb_spec a (Z.of_nat n)), (Z.ltb_spec (Z.of_nat n) b); cbn [andb length]; lia.
Qed.

Lemma firstn_more (column : list Z) y : zsum (firstn (S y) column) = zsum (firstn y column) + nth y column 0.
Proof.
  revert y. induction column as [|w column IH]; intros [|y]; simpl; try reflexivity; [lia|].
  specialize (IH y). unfold zsum in *. simpl in IH. lia.
Qed.

(** Of integers that are not negative and add up to 2^K, each is the number of its words. *)
Theorem exact_share K column y :
  Forall (Z.le 0) column -> zsum column = two K -> share_of_words K column y = (IZR (nth y column 0%Z) / IZR (two K))%R.
Proof.
  intros signs total. unfold share_of_words. do 2 f_equal.
  assert (unit : 0 < two K) by (apply Z.pow_pos_nonneg; lia).
  assert (part : forall n, 0 <= zsum (firstn n column) <= two K).
  { intros n. rewrite Forall_forall in signs.
    assert (both : 0 <= zsum (firstn n column) /\ 0 <= zsum (skipn n column)).
    { split; apply zsum_nonneg, Forall_forall; intros z member; apply signs; rewrite <- (firstn_skipn n column);
        apply in_or_app; auto. }
    assert (zsum column = zsum (firstn n column) + zsum (skipn n column)).
    { rewrite <- (firstn_skipn n column) at 1. generalize (firstn n column) (skipn n column). intros l m.
      induction l; simpl in *; [reflexivity|]. unfold zsum in *. lia. }
    lia. }
  rewrite (filter_ext_in _ (fun word => (zsum (firstn y column) <=? word) && (word <? zsum (firstn (S y) column)))).
  - unfold words. rewrite words_between by apply part. rewrite Z2Nat.id by lia.
    pose proof (part y) as before. pose proof (part (S y)) as after. rewrite firstn_more in *.
    assert (0 <= nth y column 0).
    { destruct (nth_in_or_default y column 0) as [member| ->]; [|lia]. rewrite Forall_forall in signs. now apply signs. }
    lia.
  - intros word member. apply in_map_iff in member as (number & <- & member). apply in_seq in member.
    pose proof (between_edges column (Z.of_nat number) 0 y signs ltac:(lia)) as [from to].
    apply eq_true_iff_eq. rewrite Nat.eqb_eq, andb_true_iff, Z.leb_le, Z.ltb_lt. exact (conj from to).
Qed.

Lemma zsum_real n l (g : nat -> Z) :
  (forall i, (i < n)%nat -> nth i l 0 = g i) -> length l = n -> IZR (zsum l) = sum n (fun i => IZR (g i)).
Proof. intros each l_n. rewrite (zsum_is n) by assumption. apply sum_ext. intros i i_in. now rewrite each. Qed.

Section File.
Variable f : file.
Hypothesis formed : well_formed f = true.

Theorem law_is_share x y :
  (x < size f)%nat -> (y < length (weights f))%nat ->
  share_of_words (bits f) (column_of f x) y = law (mechanism_of f) y x.
Proof.
  intros x_in y_in.
  assert (at_y : forall i, (i < length (weights f))%nat -> nth i (column_of f x) 0 = weight (nth i (weights f) []) x).
  { intros i i_in. unfold column_of. rewrite (nth_indep _ 0 (weight [] x)) by (now rewrite map_length).
    exact (map_nth (fun row => weight row x) (weights f) [] i). }
  rewrite exact_share.
  - rewrite at_y by assumption. reflexivity.
  - apply Forall_forall. intros w member. apply in_map_iff in member as (row & <- & member).
    destruct (formed_parts f formed) as (_ & _ & _ & rise & _). exact (rising_weight 0 _ _ _ (rise row member)).
  - apply eq_IZR. rewrite (zsum_real (length (weights f)) _ _ at_y) by (unfold column_of; apply map_length).
    destruct (W_is_mechanism f formed) as [_ total]. specialize (total x x_in). simpl in total.
    unfold Rdiv in total. rewrite sum_scale_r in total. pose proof (two_pos (bits f)) as unit.
    apply (Rmult_eq_reg_r (/ IZR (two (bits f)))); [|apply Rinv_neq_0_compat; lra].
    rewrite total. field. lra.
Qed.

Theorem answers_are_shares answers y :
  unseen_holds f = true -> unseen f = Some answers ->
  share_of_words (bits f) answers y = answers_of f answers y.
Proof.
  intros ok is_unseen. unfold unseen_holds in ok. rewrite is_unseen in ok. repeat rewrite andb_true_iff in ok.
  destruct ok as ((answers_n & total) & each). apply Nat.eqb_eq in answers_n. apply Z.eqb_eq in total.
  apply exact_share; [|exact total]. rewrite forallb_forall in each.
  assert (rows_n : length (rows f) = length answers) by (unfold rows; now rewrite map_length).
  apply Forall_forall. intros u member. apply (In_nth _ _ 0) in member as (i & i_in & <-).
  assert (holds : answer_holds f (nth i (rows f) []) (nth i answers 0) = true).
  { apply each. rewrite <- (map2_nth (answer_holds f) (rows f) answers i [] 0 false) by lia.
    apply nth_In. rewrite map2_length; lia. }
  unfold answer_holds in holds. cbv zeta in holds. apply andb_true_iff in holds as [above _]. apply Z.ltb_lt in above. lia.
Qed.

End File.
