(** The program: what [accepts] computes from a file. docs/format.md describes the file, and the steps of docs/theory.md
    are named as in checker.py. Nothing is proven here; Main.v does that. *)

From Coq Require Import List ZArith Bool.
From Alphalift Require Import Sums Arithmetic Cover.
Import ListNotations.
Open Scope Z_scope.

(** --- The file, as a reader hands it over --- *)

(** The decimal digits / 10^places. *)
Record decimal := Decimal { digits : Z; places : N }.

Inductive stated :=
| StatedMaxLift (epsilon : decimal)
| StatedAlphaLift (alpha epsilon : decimal).

(** Prices, duals and places over 2^proof_bits; the tree is that of the file's nodes. *)
Record certificate := Certificate {
  proof_bits : N; prices : list Z; duals : list (list Z); boxes : tree }.

(** [counts] has a row for every secret, [weights] for every output: symbols with their weights over 2^bits. *)
Record file := File {
  counts : list (list Z); bits : N; weights : list (list (nat * Z)); unseen : option (list Z); region : stated;
  at_least : decimal; at_most : decimal; proof : option certificate }.

(** --- Arithmetic: step 0 --- *)

Definition scale (d : decimal) : Z := 10 ^ Z.of_N (places d).
Definition exactly (d : decimal) : expr := Quo (Int (digits d)) (scale d).
Definition two (k : N) : Z := 2 ^ Z.of_N k.

Definition dot (l m : list Z) : Z := zsum (map2 Z.mul l m).

(** What computes a function once for each argument; the extracted program keeps a table. *)
Definition remembered {A B} (f : A -> B) : A -> B := f.

Definition precisions (k : N) : list Z := [Z.of_N k + 128; Z.of_N k + 512; Z.of_N k + 2048; Z.of_N k + 8192].

(** --- Form: step 1 --- *)

Definition size (f : file) : nat := length (hd [] (counts f)).
Definition columns (f : file) : list Z := fold_right (map2 Z.add) (repeat 0 (size f)) (counts f).
Definition everybody (f : file) : Z := zsum (columns f).

Fixpoint weight (row : list (nat * Z)) (x : nat) : Z :=
  match row with
  | [] => 0
  | (x', w) :: row' => if Nat.eqb x x' then w else weight row' x
  end.

(** A row with its zeros. *)
Definition dense (n : nat) (row : list (nat * Z)) : list Z := map (weight row) (seq 0 n).
Definition rows (f : file) : list (list Z) := map (dense (size f)) (weights f).

Fixpoint rising (least : nat) (n : nat) (row : list (nat * Z)) : bool :=
  match row with
  | [] => true
  | (x, w) :: row' => (least <=? x)%nat && (x <? n)%nat && (0 <? w) && rising (S x) n row'
  end.

Definition well_formed (f : file) : bool :=
  let n := size f in
  let sums := fold_right (map2 Z.add) (repeat 0 n) (rows f) in
  (0 <? n)%nat &&
  forallb (fun row => (length row =? n)%nat && forallb (Z.leb 0) row && (0 <? zsum row)) (counts f) &&
  forallb (Z.ltb 0) (columns f) &&
  forallb (rising 0 n) (weights f) &&
  forallb (Z.eqb (two (bits f))) sums.

(** --- Promise: step 2 --- *)

(** For an output with these weights: the mass N 2^K P(y), and N 2^K P(s, y) for every s. *)
Definition mass_of (f : file) (row : list Z) : Z := dot row (columns f).
Definition masses_of (f : file) (row : list Z) : list Z := map (dot row) (counts f).

(** The lift l(s, y) = N k_s / (n_s m) as a pair of integers, for every s. *)
Definition lifts_of (f : file) (row : list Z) : list (Z * Z) :=
  let m := mass_of f row in
  let total := everybody f in
  map2 (fun own k => (total * k, zsum own * m)) (counts f) (masses_of f row).

(** Whether every lift is 1. *)
Definition tells_nothing (lifts : list (Z * Z)) : bool := forallb (fun lift => fst lift =? snd lift) lifts.

Definition most_at (lifts : list (list (Z * Z))) (epsilon : decimal) (bits : Z) : bool :=
  match floor (bits + 64) (Exp (exactly epsilon)) bits with
  | None => false
  | Some e => let unit := 2 ^ bits in forallb (forallb (fun lift => fst lift * unit <=? e * snd lift)) lifts
  end.

(** E l^alpha, of lifts that are not 0, with the prior's integers. *)
Fixpoint power_mean (alpha : expr) (prior : list Z) (lifts : list (Z * Z)) (total : Z) : expr :=
  match prior, lifts with
  | n :: prior', lift :: lifts' =>
      let rest := power_mean alpha prior' lifts' total in
      if fst lift =? 0 then rest
      else Add (Mul (Quo (Int n) total) (Exp (Mul alpha (Ln (Quo (Int (fst lift)) (snd lift)))))) rest
  | _, _ => Int 0
  end.

Definition prior (f : file) : list Z := map zsum (counts f).

Definition promise_holds (f : file) : bool :=
  let lifts := map (lifts_of f) (rows f) in
  forallb (fun row => 0 <? mass_of f row) (rows f) &&
  match region f with
  | StatedMaxLift epsilon =>
      (0 <=? digits epsilon) &&
      (forallb tells_nothing lifts || existsb (most_at lifts epsilon) [128; 1024; 8192])
  | StatedAlphaLift alpha epsilon =>
      (scale alpha <? digits alpha) && (0 <=? digits epsilon) &&
      forallb (fun own =>
        tells_nothing own ||
        decide (precisions (bits f))
          (Sub (Exp (Mul (exactly alpha) (exactly epsilon)))
               (power_mean (exactly alpha) (prior f) own (everybody f)))) lifts
  end.

(** --- Unseen values: step 3 --- *)

(** rho = U(y) / P(y) as a pair of integers. *)
Definition ratio_of (f : file) (row : list Z) (answer : Z) : Z * Z := (answer * everybody f, mass_of f row).

Definition answered_at (f : file) (epsilon : decimal) (k : Z) (row : list Z) (answer : Z) : bool :=
  let rho := ratio_of f row answer in
  match floor (k + 64) (Exp (exactly epsilon)) k with
  | None => false
  | Some e =>
      let unit := 2 ^ k in
      (fst rho * unit <=? e * snd rho) &&
      forallb (fun lift => fst lift * snd rho * unit <=? e * (fst rho * snd lift)) (lifts_of f row)
  end.

Definition answer_holds (f : file) (row : list Z) (answer : Z) : bool :=
  let rho := ratio_of f row answer in
  (0 <? answer) &&
  ((fst rho =? snd rho) ||
   match region f with
   | StatedMaxLift epsilon => existsb (fun k => answered_at f epsilon k row answer) [128; 1024; 8192]
   | StatedAlphaLift alpha epsilon =>
       let a := exactly alpha in
       decide (precisions (bits f))
         (Sub (Mul (Exp (Mul a (exactly epsilon))) (Add (Int 1) (Mul a (Sub (Quo (Int (fst rho)) (snd rho)) (Int 1)))))
              (Exp (Mul a (Ln (Quo (Int (fst rho)) (snd rho))))))
   end).

Definition unseen_holds (f : file) : bool :=
  match unseen f with
  | None => true
  | Some answers =>
      (length answers =? length (weights f))%nat && (zsum answers =? two (bits f)) &&
      forallb (fun both => both) (map2 (answer_holds f) (rows f) answers)
  end.

(** --- Utility: step 4 --- *)

(** sum over x of n_x w_x log(w_x N / m), for one output. *)
Definition told_by (f : file) (row : list Z) : expr :=
  let m := mass_of f row in
  let total := everybody f in
  fold_right Add (Int 0)
    (map2 (fun w n => if w =? 0 then Int 0 else Mul (Int (n * w)) (Ln (Quo (Int (w * total)) m))) row (columns f)).

Definition information_of (f : file) : expr :=
  Quo (fold_right Add (Int 0) (map (told_by f) (rows f))) (everybody f * two (bits f)).

Definition utility_holds (f : file) : bool :=
  (digits (at_least f) <=? 0) ||
  decide (precisions (bits f)) (Sub (information_of f) (exactly (at_least f))).

(** --- Optimum: steps 5 to 8 --- *)

(** phi(a / one), and H(X) of masses n_x. *)
Definition phi_of (one a : Z) : expr := Mul (Quo (Int (- a)) one) (Ln (Quo (Int a) one)).
Definition entropy_of (masses : list Z) (all : Z) : expr := fold_right Add (Int 0) (map (phi_of all) masses).

(** phi at a place, rounded down; where it has no floor, phi(v) >= v (1 - v). *)
Definition phi_below (k : N) (a : Z) : Z :=
  match floor (2 * Z.of_N k + 64) (phi_of (two k) a) (2 * Z.of_N k) with
  | Some z => z
  | None => a * (two k - a)
  end.

(** sigma(w), step 6, for w over [one]. *)
Definition above_zero (w : list Z) : list Z := map (fun own => Z.max own 0) w.

Fixpoint conjugate_mean (b : expr) (prior w : list Z) (total one : Z) : expr :=
  match prior, w with
  | n :: prior', own :: w' =>
      let rest := conjugate_mean b prior' w' total one in
      if own <=? 0 then rest else Add (Mul (Quo (Int n) total) (Exp (Mul b (Ln (Quo (Int own) one))))) rest
  | _, _ => Int 0
  end.

Definition sigma_of (f : file) (w : list Z) (one : Z) : expr :=
  match region f with
  | StatedMaxLift epsilon =>
      Mul (Exp (exactly epsilon)) (Quo (Int (dot (above_zero w) (prior f))) (everybody f * one))
  | StatedAlphaLift alpha epsilon =>
      if forallb (fun own => own <=? 0) w then Int 0
      else
        let less := digits alpha - scale alpha in
        let power_sum := conjugate_mean (Quo (Int (digits alpha)) less) (prior f) w (everybody f) one in
        Mul (Exp (exactly epsilon)) (Exp (Mul (Quo (Int less) (digits alpha)) (Ln power_sum)))
  end.

(** sum over s of w_s n_sx for every x. *)
Fixpoint weighted (n : nat) (w : list Z) (table : list (list Z)) : list Z :=
  match w, table with
  | own :: w', row :: table' => map2 (fun entry rest => own * entry + rest) row (weighted n w' table')
  | _, _ => repeat 0 n
  end.

(** Of a dual (w, nu): nu - sigma(w) rounded down over one^2, and c rounded up over one. *)
Definition terms_of (f : file) (proof : certificate) (dual : list Z) : option (Z * list Z) :=
  let k := proof_bits proof in
  let w := removelast dual in
  let nu := last dual 0 in
  if (length dual =? S (length (counts f)))%nat then
    match floor (2 * Z.of_N k + 128) (Neg (sigma_of f w (two k))) (2 * Z.of_N k) with
    | None => None
    | Some low =>
        let means := map2 Z.div (weighted (size f) w (counts f)) (columns f) in
        Some (nu * two k + low, map2 (fun u mean => u + nu - mean) (prices proof) means)
    end
  else None.

(** The least that every leaf must reach: H(X) - u.P_X - the claim, rounded up over one^2. *)
Definition needed (f : file) (proof : certificate) : option Z :=
  let k := proof_bits proof in
  ceiling (2 * Z.of_N k + 128)
    (Sub (entropy_of (columns f) (everybody f))
         (Add (Quo (Int (dot (prices proof) (columns f))) (everybody f * two k)) (exactly (at_most f))))
    (2 * Z.of_N k).

Definition proves (f : file) (proof : certificate) : bool :=
  let k := proof_bits proof in
  let n := size f in
  (length (prices proof) =? n)%nat &&
  match needed f proof with
  | None => false
  | Some threshold =>
      let curve := remembered (phi_below k) in
      let dual := remembered (fun d =>
        match nth_error (duals proof) d with None => None | Some own => terms_of f proof own end) in
      holds (two k) threshold curve dual (boxes proof) (repeat 0 n) (repeat (two k) n)
  end.

Definition optimum_holds (f : file) : bool :=
  match proof f with
  | None => decide (precisions 0) (Sub (exactly (at_most f)) (entropy_of (columns f) (everybody f)))
  | Some proof => proves f proof
  end.

(** --- Verdict --- *)

Definition accepts (f : file) : bool :=
  well_formed f && promise_holds f && unseen_holds f && utility_holds f && optimum_holds f.
