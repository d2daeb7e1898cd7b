(** Mantissas for Interval's floats over Z, with shifts and divisions of whole integers, which the extracted program
    leaves to zarith; Interval's own go bit by bit. Everything else is Interval's. *)

From Coq Require Import Reals ZArith Lia Bool.
From Flocq Require Import Core Digits.
From Interval Require Import Basic Generic Generic_proof Specific_sig Specific_stdz.

Module Carrier <: FloatCarrier.

Definition radix := radix2.
Definition radix_correct := refl_equal Lt.
Definition smantissa_type := Z.
Definition mantissa_type := positive.
Definition exponent_type := Z.

Definition MtoP := fun m : positive => m.
Definition PtoM := fun m : positive => m.
Definition MtoZ := fun m : Z => m.
Definition ZtoM := fun m : Z => m.
Definition EtoZ := fun e : Z => e.
Definition ZtoE := fun e : Z => e.

Definition exponent_zero := 0%Z.
Definition exponent_one := 1%Z.
Definition exponent_neg := Z.opp.
Definition exponent_add := Zplus.
Definition exponent_sub := Zminus.
Definition exponent_cmp := Z.compare.

Definition mantissa_zero := Z0.
Definition mantissa_one := xH.
Definition mantissa_add := Pplus.
Definition mantissa_sub := Pminus.
Definition mantissa_mul := Pmult.
Definition mantissa_cmp x y := Pcompare x y Eq.
Definition mantissa_pos := Zpos.
Definition mantissa_neg := Zneg.

Definition valid_mantissa := fun _ : positive => True.

Definition mantissa_sign := StdZRadix2.mantissa_sign.
Definition mantissa_even := StdZRadix2.mantissa_even.
Definition mantissa_scale2 := StdZRadix2.mantissa_scale2.
Definition mantissa_sqrt := StdZRadix2.mantissa_sqrt.
Definition exponent_div2_floor := StdZRadix2.exponent_div2_floor.

Definition mantissa_digits (m : positive) : Z := Zpos (Pos.size m).
Definition mantissa_shl (m : positive) (d : Z) : positive := Z.to_pos (Z.shiftl (Zpos m) d).
Definition power_of_two (d : Z) : positive := Z.to_pos (Z.shiftl 1 d).

Definition mantissa_shr (m : positive) (d : Z) (pos : position) : positive * position :=
  let b := power_of_two d in
  let (q, r) := Z.div_eucl (Zpos m) (Zpos b) in (Z.to_pos q, adjust_pos r b pos).

Definition mantissa_shrp (m : positive) (d : Z) (pos : position) : position :=
  adjust_pos (Zpos m) (power_of_two d) pos.

Definition mantissa_div (m d : positive) : positive * position :=
  match Z.div_eucl (Zpos m) (Zpos d) with
  | (Zpos q, r) => (q, adjust_pos r d pos_Eq)
  | _ => (xH, pos_Eq)
  end.

Definition PtoM_correct := fun x : positive => refl_equal x.
Definition ZtoM_correct := fun x : Z => refl_equal x.
Definition ZtoE_correct := fun x : Z => refl_equal x.
Definition exponent_zero_correct := refl_equal Z0.
Definition exponent_one_correct := refl_equal 1%Z.
Definition exponent_neg_correct := fun x => refl_equal (- EtoZ x)%Z.
Definition exponent_add_correct := fun x y => refl_equal (EtoZ x + EtoZ y)%Z.
Definition exponent_sub_correct := fun x y => refl_equal (EtoZ x - EtoZ y)%Z.
Definition exponent_cmp_correct := fun x y => refl_equal (EtoZ x ?= EtoZ y)%Z.
Definition exponent_div2_floor_correct := StdZRadix2.exponent_div2_floor_correct.
Definition mantissa_zero_correct := refl_equal Z0.
Definition mantissa_pos_correct := fun (x : positive) (_ : True) => refl_equal (Zpos x).
Definition mantissa_neg_correct := fun (x : positive) (_ : True) => refl_equal (Zneg x).
Definition mantissa_one_correct := conj (refl_equal xH) I.
Definition mantissa_add_correct :=
  fun x y (_ _ : True) => conj (refl_equal (MtoP x + MtoP y)%positive) I.
Definition mantissa_sub_correct :=
  fun x y (_ _ : True) (_ : (MtoP y < MtoP x)%positive) => conj (refl_equal (MtoP x - MtoP y)%positive) I.
Definition mantissa_mul_correct :=
  fun x y (_ _ : True) => conj (refl_equal (MtoP x * MtoP y)%positive) I.
Definition mantissa_cmp_correct :=
  fun x y (_ _ : True) => refl_equal (Z.compare (Zpos (MtoP x)) (Zpos (MtoP y))).
Definition mantissa_even_correct := fun (x : positive) (_ : True) => refl_equal (Z.even (Zpos x)).
Definition mantissa_sign_correct := StdZRadix2.mantissa_sign_correct.
Definition mantissa_scale2_correct := StdZRadix2.mantissa_scale2_correct.
Definition mantissa_sqrt_correct := StdZRadix2.mantissa_sqrt_correct.

Lemma shift_is m x : Zpos (shift radix m x) = Z.shiftl (Zpos m) (Zpos x).
Proof. rewrite shift_correct, Z.shiftl_mul_pow2 by lia. now rewrite Zpower_pos_nat, Zpower_nat_Z, positive_nat_Z. Qed.

Lemma power_of_two_is x : power_of_two (Zpos x) = shift radix 1 x.
Proof. unfold power_of_two. now rewrite <- shift_is. Qed.

Lemma mantissa_digits_correct x :
  valid_mantissa x -> EtoZ (mantissa_digits x) = Zpos (count_digits radix (MtoP x)).
Proof.
  intros _. rewrite <- digits_conversion. unfold mantissa_digits, EtoZ, MtoP, radix. rewrite <- Zpos_digits2_pos. f_equal.
Qed.

Lemma mantissa_shl_correct x y z :
  valid_mantissa y -> z = Zpos x ->
  MtoP (mantissa_shl y z) = shift radix (MtoP y) x /\ valid_mantissa (mantissa_shl y z).
Proof. intros _ ->. split; [|exact I]. unfold mantissa_shl, MtoP. now rewrite <- shift_is. Qed.

Lemma mantissa_shr_correct x y z k :
  valid_mantissa y -> EtoZ z = Zpos x -> (Zpos (shift radix 1 x) <= Zpos (MtoP y))%Z ->
  let (sq, l) := mantissa_shr y z k in
  let (q, r) := Z.div_eucl (Zpos (MtoP y)) (Zpos (shift radix 1 x)) in
  Zpos (MtoP sq) = q /\ l = adjust_pos r (shift radix 1 x) k /\ valid_mantissa sq.
Proof.
  intros _ is_z most. unfold EtoZ in is_z. subst z. unfold mantissa_shr, MtoP in *. rewrite power_of_two_is.
  pose proof (Z.div_str_pos (Zpos y) (Zpos (shift radix 1 x)) (conj eq_refl most)) as positive.
  unfold Z.div in positive. destruct (Z.div_eucl (Zpos y) (Zpos (shift radix 1 x))) as [q r].
  split; [now apply Z2Pos.id | split; [reflexivity | exact I]].
Qed.

Lemma mantissa_shrp_correct x y z k :
  valid_mantissa y -> EtoZ z = Zpos x ->
  (Zpower radix (Zpos x - 1) <= Zpos (MtoP y) < Zpos (shift radix 1 x))%Z ->
  let l := mantissa_shrp y z k in l = adjust_pos (Zpos (MtoP y)) (shift radix 1 x) k.
Proof. intros _ is_z _. unfold EtoZ in is_z. subst z. unfold mantissa_shrp. now rewrite power_of_two_is. Qed.

Lemma mantissa_div_correct x y :
  valid_mantissa x -> valid_mantissa y -> (Zpos (MtoP y) <= Zpos (MtoP x))%Z ->
  let (q, l) := mantissa_div x y in
  Zpos (MtoP q) = (Zpos (MtoP x) / Zpos (MtoP y))%Z /\
  Bracket.inbetween_int (Zpos (MtoP q)) (IZR (Zpos (MtoP x)) / IZR (Zpos (MtoP y)))%R (convert_location_inv l) /\
  valid_mantissa q.
Proof.
  intros x_valid y_valid most.
  replace (mantissa_div x y) with (StdZRadix2.mantissa_div x y); [now apply StdZRadix2.mantissa_div_correct|].
  unfold mantissa_div, StdZRadix2.mantissa_div, StdZRadix2.mantissa_split_div.
  rewrite Zfast_div_eucl_correct. destruct (Z.div_eucl (Zpos x) (Zpos y)) as [[|q|q] r]; reflexivity.
Qed.

End Carrier.
