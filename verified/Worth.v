(** What the mechanism is worth (docs/theory.md, step 4). *)

From Coq Require Import Reals Lra Lia List ZArith Bool.
From Alphalift Require Import Sums Problem Entropy Duality Arithmetic Cover Checker Meaning Integers Promises.
Import ListNotations.
Open Scope R_scope.

Lemma eval_sum l : eval (fold_right Add (Int 0) l) = sum (length l) (fun i => eval (nth i l (Int 0))).
Proof.
  induction l as [|e l IH]; [reflexivity|]. cbn [fold_right eval length]. rewrite sum_first, IH. reflexivity.
Qed.

(** I(X;Y) is not negative: Gibbs' inequality. *)
Lemma information_nonneg J W : is_joint J -> is_mechanism J W -> 0 <= information J W.
Proof.
  intros joint mech. unfold information.
  apply Rle_trans with (sum (outputs W) (fun y => sum (symbols J) (fun x => law W y x * P_X J x) -
                                                  sum (symbols J) (fun x => P_X J x * P_Y J W y))).
  - right. rewrite sum_minus. pose proof (P_Y_total J joint W mech) as total.
    rewrite (sum_ext _ (fun y => sum (symbols J) (fun x => P_X J x * P_Y J W y)) (P_Y J W)).
    + change (sum (outputs W) (fun y => sum (symbols J) (fun x => law W y x * P_X J x)))
        with (sum (outputs W) (P_Y J W)). lra.
    + intros y _. rewrite sum_scale_r, P_X_total by assumption. lra.
  - apply sum_le. intros y y_in. rewrite <- sum_minus. apply sum_le. intros x x_in.
    pose proof (P_X_pos J joint x x_in) as P_pos.
    destruct (P_Y_nonneg J joint W mech y y_in) as [occurs|null].
    + destruct (proj1 mech y x y_in x_in) as [some|none].
      * pose proof (gibbs (law W y x) (P_Y J W y) (Rlt_le _ _ some) occurs) as below.
        unfold Rdiv. rewrite ln_mult, ln_Rinv by (try apply Rinv_0_lt_compat; assumption).
        apply (Rmult_le_compat_l (P_X J x)) in below; [|lra]. lra.
      * rewrite <- none. assert (0 < P_X J x * P_Y J W y) by now apply Rmult_lt_0_compat. lra.
    + rewrite (never J joint W mech y x y_in x_in (eq_sym null)). rewrite <- null. lra.
Qed.

Section File.
Variable f : file.
Hypothesis formed : well_formed f = true.

Let n := size f.
Let J := joint_of f.
Let W := mechanism_of f.

Lemma told_by_is y :
  (y < length (weights f))%nat -> (0 < mass_of f (nth y (rows f) []))%Z ->
  eval (told_by f (nth y (rows f) [])) / IZR (everybody f * two (bits f)) =
  sum n (fun x => P_X J x * law W y x * ln (law W y x / P_Y J W y)).
Proof.
  intros y_in occurs. pose proof (N_pos f formed) as N_pos. pose proof (two_pos (bits f)) as unit_pos.
  assert (row_n : length (nth y (rows f) []) = n) by (rewrite rows_nth by assumption; apply dense_length).
  unfold told_by. cbv zeta. rewrite eval_sum, map2_length by (rewrite columns_n; assumption).
  unfold Rdiv at 1. rewrite row_n, <- sum_scale_r. apply sum_ext. intros x x_in.
  rewrite (map2_nth _ _ _ _ 0%Z 0%Z) by (rewrite ?columns_n; trivial; lia).
  unfold J, W. rewrite P_X_is, P_Y_is by assumption. cbn [law mechanism_of].
  rewrite rows_nth by assumption. rewrite dense_nth by assumption. rewrite <- rows_nth by assumption.
  apply IZR_lt in occurs. rewrite mult_IZR.
  destruct (Z.eqb_spec (weight (nth y (weights f) []) x) 0) as [null|some].
  - rewrite null. cbn [eval]. unfold Rdiv. rewrite ?Rmult_0_l, ?Rmult_0_r, ?Rmult_0_l. reflexivity.
  - cbn [eval]. rewrite !mult_IZR.
    replace (IZR (weight (nth y (weights f) []) x) / IZR (two (bits f)) /
      (IZR (mass_of f (nth y (rows f) [])) / (IZR (everybody f) * IZR (two (bits f)))))
      with (IZR (weight (nth y (weights f) []) x) * IZR (everybody f) / IZR (mass_of f (nth y (rows f) [])))
      by (field; lra).
    field. lra.
Qed.

Theorem worth_at_least :
  promise_holds f = true -> utility_holds f = true -> number (at_least f) <= information J W.
Proof.
  intros promise ok. unfold utility_holds in ok. apply orb_true_iff in ok as [null|ok].
  - apply Rle_trans with 0; [|apply information_nonneg; [now apply J_is_joint | now apply W_is_mechanism]].
    apply Z.leb_le, IZR_le in null. pose proof (scale_pos (at_least f)) as positive. apply IZR_lt in positive.
    unfold number. assert (0 < / IZR (scale (at_least f))) by now apply Rinv_0_lt_compat. unfold Rdiv. nra.
  - apply decide_sound in ok. rewrite eval_Sub in ok. change (eval (exactly (at_least f))) with (number (at_least f)) in ok.
    enough (eval (information_of f) = information J W) by lra.
    unfold information_of. cbn [eval]. rewrite eval_sum, map_length. unfold rows at 1. rewrite map_length.
    unfold Rdiv. rewrite <- sum_scale_r. unfold information. apply sum_ext. intros y y_in.
    rewrite (nth_indep _ _ (told_by f [])) by (rewrite map_length; unfold rows; now rewrite map_length).
    rewrite map_nth. apply told_by_is; [assumption|].
    now apply occur.
Qed.

End File.
