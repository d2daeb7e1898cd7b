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
| StatedAlphaLift (alpha epsilon : decimal)
| StatedLIP (lower upper : decimal)
| StatedLDP (epsilon : decimal)
| StatedTotalVariation (epsilon : decimal)
| StatedChiSquare (epsilon : decimal)
| StatedKL (epsilon : decimal)
| StatedRenyi (order epsilon : decimal)
| StatedBoth (first second : stated).

(** Counts of types and groups, the type of every symbol and the group of every secret. *)
Record merging := Merging { table : list (list Z); types : list nat; groups : list nat }.

(** By a tree of boxes, that of the file's nodes; or, for two secrets, by pairs of symbols between ends of the first lift. *)
Inductive argument :=
| ByBoxes (duals : list (list Z)) (boxes : tree)
| ByPairs (low high : Z).

(** Prices, duals, places and ends over 2^proof_bits. What is merged is the reader's work. *)
Record certificate := Certificate {
  merged : option merging; proof_bits : N; prices : list Z; by_what : argument }.

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

(** For fractions a and b of integers: a <= e / unit b, and a >= c / unit b. *)
Definition at_most_times (unit e : Z) (a b : Z * Z) : bool := fst a * snd b * unit <=? e * (fst b * snd a).
Definition at_least_times (unit c : Z) (a b : Z * Z) : bool := c * (fst b * snd a) <=? fst a * snd b * unit.

(** e^x over 2^k, rounded down and up. *)
Definition exp_below (x : expr) (k : Z) : option Z := floor (k + 64) (Exp x) k.
Definition exp_above (x : expr) (k : Z) : option Z := ceiling (k + 64) (Exp x) k.

(** Whether an output's lifts are proven to keep a promise of bounds, with k bits. *)
Definition kept_at (region : stated) (lifts : list (Z * Z)) (k : Z) : bool :=
  let unit := 2 ^ k in
  match region with
  | StatedMaxLift epsilon =>
      match exp_below (exactly epsilon) k with
      | Some e => forallb (fun l => at_most_times unit e l (1, 1)) lifts
      | None => false
      end
  | StatedLIP lower upper =>
      match exp_below (exactly upper) k, exp_above (Neg (exactly lower)) k with
      | Some e, Some c => forallb (fun l => at_most_times unit e l (1, 1) && at_least_times unit c l (1, 1)) lifts
      | _, _ => false
      end
  | StatedLDP epsilon =>
      match exp_below (exactly epsilon) k with
      | Some e => forallb (fun a => forallb (at_most_times unit e a) lifts) lifts
      | None => false
      end
  | _ => false
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

(** E of a function of the lifts. *)
Fixpoint mean_of (term : Z * Z -> expr) (prior : list Z) (lifts : list (Z * Z)) (total : Z) : expr :=
  match prior, lifts with
  | n :: prior', lift :: lifts' => Add (Mul (Quo (Int n) total) (term lift)) (mean_of term prior' lifts' total)
  | _, _ => Int 0
  end.

(** The same of a fraction of each lift, as a fraction. *)
Fixpoint exact_mean (term : Z * Z -> Z * Z) (prior : list Z) (lifts : list (Z * Z)) (total : Z) : Z * Z :=
  match prior, lifts with
  | n :: prior', lift :: lifts' =>
      let '(a, b) := term lift in
      let '(c, d) := exact_mean term prior' lifts' total in
      (n * a * d + c * (total * b), total * b * d)
  | _, _ => (0, 1)
  end.

(** For fractions, a <= b; |l - 1| and (l - 1)^2. *)
Definition not_above (a b : Z * Z) : bool := fst a * snd b <=? fst b * snd a.
Definition distance (a : Z * Z) : Z * Z := (Z.abs (fst a - snd a), snd a).
Definition square (a : Z * Z) : Z * Z := ((fst a - snd a) * (fst a - snd a), snd a * snd a).
Definition own_log (a : Z * Z) : expr :=
  if fst a =? 0 then Int 0 else Mul (Quo (Int (fst a)) (snd a)) (Ln (Quo (Int (fst a)) (snd a))).

Definition prior (f : file) : list Z := map zsum (counts f).

(** What E |l - 1| and E (l - 1)^2 may be. *)
Definition twice (epsilon : decimal) : Z * Z := (2 * digits epsilon, scale epsilon).
Definition squared (epsilon : decimal) : Z * Z := (digits epsilon * digits epsilon, scale epsilon * scale epsilon).

(** The budget of alpha-lift that says the same as Renyi's. *)
Definition norm_budget (order epsilon : decimal) : expr :=
  Quo (Mul (exactly epsilon) (Int (digits order - scale order))) (digits order).

(** E l^alpha <= e^(alpha budget). *)
Definition norm_keeps (f : file) (alpha : decimal) (budget : expr) (lifts : list (Z * Z)) : bool :=
  decide (precisions (bits f))
    (Sub (Exp (Mul (exactly alpha) budget)) (power_mean (exactly alpha) (prior f) lifts (everybody f))).

(** The same with growing precision, and for means. *)
Fixpoint region_keeps (f : file) (region : stated) (lifts : list (Z * Z)) : bool :=
  match region with
  | StatedAlphaLift alpha epsilon => norm_keeps f alpha (exactly epsilon) lifts
  | StatedRenyi order epsilon => norm_keeps f order (norm_budget order epsilon) lifts
  | StatedTotalVariation epsilon =>
      not_above (exact_mean distance (prior f) lifts (everybody f)) (twice epsilon)
  | StatedChiSquare epsilon =>
      not_above (exact_mean square (prior f) lifts (everybody f)) (squared epsilon)
  | StatedKL epsilon =>
      decide (precisions (bits f)) (Sub (exactly epsilon) (mean_of own_log (prior f) lifts (everybody f)))
  | StatedBoth first second => region_keeps f first lifts && region_keeps f second lifts
  | region => existsb (kept_at region lifts) [128; 1024; 8192]
  end.

Definition output_keeps (f : file) (lifts : list (Z * Z)) : bool := tells_nothing lifts || region_keeps f (region f) lifts.

(** Orders above 1, no budget below 0. *)
Fixpoint parameters_hold (region : stated) : bool :=
  match region with
  | StatedMaxLift epsilon | StatedLDP epsilon | StatedTotalVariation epsilon | StatedChiSquare epsilon | StatedKL epsilon =>
      0 <=? digits epsilon
  | StatedAlphaLift order epsilon | StatedRenyi order epsilon => (scale order <? digits order) && (0 <=? digits epsilon)
  | StatedLIP lower upper => (0 <=? digits lower) && (0 <=? digits upper)
  | StatedBoth first second => parameters_hold first && parameters_hold second
  end.

Definition promise_holds (f : file) : bool :=
  parameters_hold (region f) &&
  forallb (fun row => (0 <? mass_of f row) && output_keeps f (lifts_of f row)) (rows f).

(** Whether lifts are proven to reach a limit of a promise, with k bits. *)
Definition limit_at (region : stated) (lifts : list (Z * Z)) (k : Z) : bool :=
  let unit := 2 ^ k in
  match region with
  | StatedMaxLift epsilon =>
      match exp_above (exactly epsilon) k with
      | Some c => existsb (fun l => at_least_times unit c l (1, 1)) lifts
      | None => false
      end
  | StatedLIP lower upper =>
      match exp_above (exactly upper) k, exp_below (Neg (exactly lower)) k with
      | Some c, Some e => existsb (fun l => at_least_times unit c l (1, 1) || at_most_times unit e l (1, 1)) lifts
      | _, _ => false
      end
  | StatedLDP epsilon =>
      match exp_above (exactly epsilon) k with
      | Some c => existsb (fun a => existsb (at_least_times unit c a) lifts) lifts
      | None => false
      end
  | _ => false
  end.

Definition norm_limits (f : file) (alpha : decimal) (budget : expr) (lifts : list (Z * Z)) : bool :=
  decide (precisions (bits f))
    (Sub (power_mean (exactly alpha) (prior f) lifts (everybody f)) (Exp (Mul (exactly alpha) budget))).

Fixpoint region_limits (f : file) (region : stated) (lifts : list (Z * Z)) : bool :=
  match region with
  | StatedAlphaLift alpha epsilon => norm_limits f alpha (exactly epsilon) lifts
  | StatedRenyi order epsilon => norm_limits f order (norm_budget order epsilon) lifts
  | StatedTotalVariation epsilon =>
      not_above (twice epsilon) (exact_mean distance (prior f) lifts (everybody f))
  | StatedChiSquare epsilon =>
      not_above (squared epsilon) (exact_mean square (prior f) lifts (everybody f))
  | StatedKL epsilon =>
      decide (precisions (bits f)) (Sub (mean_of own_log (prior f) lifts (everybody f)) (exactly epsilon))
  | StatedBoth first second => region_limits f first lifts || region_limits f second lifts
  | region => existsb (limit_at region lifts) [128; 1024; 8192]
  end.

(** --- Unseen values: step 3 --- *)

(** rho = U(y) / P(y) as a pair of integers. *)
Definition ratio_of (f : file) (row : list Z) (answer : Z) : Z * Z := (answer * everybody f, mass_of f row).

Definition answered_at (region : stated) (rho : Z * Z) (lifts : list (Z * Z)) (k : Z) : bool :=
  let unit := 2 ^ k in
  match region with
  | StatedMaxLift epsilon =>
      match exp_below (exactly epsilon) k with
      | Some e => at_most_times unit e rho (1, 1) && forallb (fun l => at_most_times unit e l rho) lifts
      | None => false
      end
  | StatedLIP lower upper =>
      match exp_below (exactly upper) k, exp_above (Neg (exactly lower)) k with
      | Some e, Some c =>
          at_most_times unit e rho (1, 1) && at_least_times unit c rho (1, 1) &&
          forallb (fun l => at_most_times unit e l rho && at_least_times unit c l rho) lifts
      | _, _ => false
      end
  | StatedLDP epsilon =>
      match exp_below (exactly epsilon) k with
      | Some e => forallb (fun l => at_most_times unit e l rho && at_most_times unit e rho l) lifts
      | None => false
      end
  | _ => false
  end.

Definition norm_answers (f : file) (alpha : decimal) (budget : expr) (rho : Z * Z) : bool :=
  let a := exactly alpha in
  decide (precisions (bits f))
    (Sub (Mul (Exp (Mul a budget)) (Add (Int 1) (Mul a (Sub (Quo (Int (fst rho)) (snd rho)) (Int 1)))))
         (Exp (Mul a (Ln (Quo (Int (fst rho)) (snd rho)))))).

Fixpoint region_answers (f : file) (region : stated) (rho : Z * Z) (lifts : list (Z * Z)) : bool :=
  match region with
  | StatedAlphaLift alpha epsilon => norm_answers f alpha (exactly epsilon) rho
  | StatedRenyi order epsilon => norm_answers f order (norm_budget order epsilon) rho
  | StatedTotalVariation epsilon =>
      not_above (distance rho) (digits epsilon * fst rho, scale epsilon * snd rho)
  | StatedChiSquare epsilon =>
      let '(top, bottom) := squared epsilon in
      not_above (fst rho * fst rho, snd rho * snd rho) ((bottom + top) * (2 * fst rho - snd rho), bottom * snd rho)
  | StatedKL epsilon =>
      let own := Quo (Int (fst rho)) (snd rho) in
      decide (precisions (bits f)) (Sub (Sub (Mul (exactly epsilon) own) (Mul own (Ln own))) (Sub (Int 1) own))
  | StatedBoth first second => region_answers f first rho lifts && region_answers f second rho lifts
  | region => existsb (answered_at region rho lifts) [128; 1024; 8192]
  end.

Definition answer_holds (f : file) (row : list Z) (answer : Z) : bool :=
  let rho := ratio_of f row answer in
  (0 <? answer) && ((fst rho =? snd rho) || region_answers f (region f) rho (lifts_of f row)).

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

(** For LDP, with t over [unit]: whether E(w - v) + (t - 1) E(w - v)+ <= 0. *)
Definition is_above (unit t : Z) (prior w : list Z) (v : Z) : bool :=
  let rest := map (fun own => own - v) w in
  unit * dot prior rest + (t - unit) * dot prior (above_zero rest) <=? 0.

(** The least such v, rounded up: Dinkelbach's iteration. Any other would do, if it passes [is_above]. *)
Fixpoint raised (steps : nat) (unit t : Z) (prior w : list Z) (v : Z) : Z :=
  match steps with
  | O => v
  | S steps' =>
      let among := map (fun own => if v <? own then 1 else 0) w in
      let top := unit * dot prior w + (t - unit) * dot prior (map2 Z.mul among w) in
      let bottom := unit * zsum prior + (t - unit) * dot prior among in
      raised steps' unit t prior w (- (- top / bottom))
  end.

(** E w, and E (w - E w)^2. *)
Definition mean_w (f : file) (w : list Z) (one : Z) : expr := Quo (Int (dot w (prior f))) (everybody f * one).
Definition variance_of (f : file) (w : list Z) (one : Z) : Z * Z :=
  let total := everybody f in
  let m := dot w (prior f) in
  (dot (map (fun own => (own * total - m) * (own * total - m)) w) (prior f), total * total * total * one * one).

(** E e^(w/b). *)
Fixpoint mean_exp (b : Z) (prior w : list Z) (total : Z) : expr :=
  match prior, w with
  | n :: prior', own :: w' => Add (Mul (Quo (Int n) total) (Exp (Quo (Int own) b))) (mean_exp b prior' w' total)
  | _, _ => Int 0
  end.

Definition greatest (w : list Z) : Z := fold_right Z.max (hd 0 w) w.
Definition least (w : list Z) : Z := fold_right Z.min (hd 0 w) w.

(** Whether a budget is 0, so that l = 1 is all that is allowed. *)
Fixpoint perfect (region : stated) : bool :=
  match region with
  | StatedLIP lower upper => (digits lower =? 0) || (digits upper =? 0)
  | StatedBoth first second => perfect first || perfect second
  | StatedMaxLift epsilon | StatedAlphaLift _ epsilon | StatedLDP epsilon | StatedTotalVariation epsilon
  | StatedChiSquare epsilon | StatedKL epsilon | StatedRenyi _ epsilon => digits epsilon =? 0
  end.

(** e^budget (E w+^a)^(1/a). *)
Definition norm_sigma (f : file) (alpha : decimal) (budget : expr) (w : list Z) (one : Z) : expr :=
  if forallb (fun own => own <=? 0) w then Int 0
  else
    let less := digits alpha - scale alpha in
    let power_sum := conjugate_mean (Quo (Int (digits alpha)) less) (prior f) w (everybody f) one in
    Exp (Add budget (Mul (Quo (Int less) (digits alpha)) (Ln power_sum))).

(** Of one promise; a dual has a b for KL alone. *)
Definition sigma_of (f : file) (region : stated) (w : list Z) (b : Z) (one : Z) : option expr :=
  let w_above := dot (above_zero w) (prior f) in
  match region with
  | StatedMaxLift epsilon => Some (Mul (Exp (exactly epsilon)) (Quo (Int w_above) (everybody f * one)))
  | StatedAlphaLift alpha epsilon => Some (norm_sigma f alpha (exactly epsilon) w one)
  | StatedRenyi order epsilon => Some (norm_sigma f order (norm_budget order epsilon) w one)
  | StatedLIP lower upper =>
      let w_below := dot (above_zero (map Z.opp w)) (prior f) in
      Some (Sub (Mul (Exp (exactly upper)) (Quo (Int w_above) (everybody f * one)))
                (Mul (Exp (Neg (exactly lower))) (Quo (Int w_below) (everybody f * one))))
  | StatedLDP epsilon =>
      let fine := map (fun own => own * one) w in
      match exp_above (exactly epsilon) 256 with
      | None => None
      | Some t =>
          let v := raised (S (length w)) (2 ^ 256) t (prior f) fine (fold_right Z.min 0 fine) in
          if is_above (2 ^ 256) t (prior f) fine v then Some (Quo (Int v) (one * one)) else None
      end
  | StatedTotalVariation epsilon =>
      Some (Add (mean_w f w one) (Mul (Quo (Int (greatest w - least w)) one) (exactly epsilon)))
  | StatedChiSquare epsilon =>
      if greatest w =? least w then Some (mean_w f w one)
      else
        let '(top, bottom) := variance_of f w one in
        if (0 <? digits epsilon) && (0 <? top) then
          Some (Add (mean_w f w one) (Mul (exactly epsilon) (Exp (Quo (Ln (Quo (Int top) bottom)) 2))))
        else None
  | StatedKL epsilon =>
      if 0 <? b then Some (Mul (Quo (Int b) one) (Add (exactly epsilon) (Ln (mean_exp b (prior f) w (everybody f)))))
      else None
  | StatedBoth _ _ => None
  end.

(** What a dual has after its w: for KL its b. *)
Definition extra (region : stated) : nat := match region with StatedKL _ => 1 | _ => 0 end.

(** From the entries of a dual: the sum of the w of all parts, that of their sigma, and the entries that are left.
    Where l = 1 is all that is allowed, sigma(w) = E w. *)
Fixpoint support_of (f : file) (ones : bool) (region : stated) (one : Z) (entries : list Z) : option (list Z * expr * list Z) :=
  match region with
  | StatedBoth first second =>
      match support_of f ones first one entries with
      | None => None
      | Some (w, sigma, rest) =>
          match support_of f ones second one rest with
          | None => None
          | Some (w', sigma', rest') => Some (map2 Z.add w w', Add sigma sigma', rest')
          end
      end
  | region =>
      let secrets := length (counts f) in
      let w := firstn secrets entries in
      if (length w =? secrets)%nat then
        match (if ones then Some (mean_w f w one) else sigma_of f region w (nth secrets entries 0) one) with
        | None => None
        | Some sigma => Some (w, sigma, skipn (secrets + extra region) entries)
        end
      else None
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
  match support_of f (perfect (region f)) (region f) (two k) dual with
  | Some (w, sigma, [nu]) =>
      match floor (2 * Z.of_N k + 64) (Neg sigma) (2 * Z.of_N k) with
      | None => None
      | Some low =>
          let means := map2 Z.div (weighted (size f) w (counts f)) (columns f) in
          Some (nu * two k + low, map2 (fun u mean => u + nu - mean) (prices proof) means)
      end
  | _ => None
  end.

(** Step 9. The lifts of two secrets, the first of which is 1 + e / one. *)
Definition lifts_at (f : file) (one e : Z) : list (Z * Z) :=
  let first := zsum (nth 0 (counts f) []) in
  let second := zsum (nth 1 (counts f) []) in
  [(one + e, one); (second * one - e * first, second * one)].

(** Whether no lifts farther from 1 are allowed. *)
Definition outside (f : file) (lifts : list (Z * Z)) : bool :=
  existsb (fun l => fst l <=? 0) lifts || perfect (region f) || region_limits f (region f) lifts.

(** A symbol's deviation a / b, and its price. *)
Definition deviations (f : file) (u : list Z) : list (Z * Z * Z) :=
  let first := zsum (nth 0 (counts f) []) in
  let all := everybody f in
  map (fun '(n, of_first, price) => (of_first * all - first * n, first * n, price))
    (combine (combine (columns f) (nth 0 (counts f) [])) u).

(** Whether H(V) - u.V reaches the threshold where two symbols have the shares a and b of a + b. *)
Definition mixture_holds (k : N) (threshold u_x u_y a b : Z) : bool :=
  decide (precisions k)
    (Sub (Sub (Add (phi_of (a + b) a) (phi_of (a + b) b)) (Quo (Int (b * u_x + a * u_y)) ((a + b) * two k)))
         (Quo (Int threshold) (two k * two k))).

Definition pairs_hold (f : file) (k : N) (u : list Z) (low high threshold : Z) : bool :=
  let one := two k in
  let symbols := deviations f u in
  (length (counts f) =? 2)%nat && (length u =? size f)%nat && (low <? 0) && (0 <? high) &&
  outside f (lifts_at f one low) && outside f (lifts_at f one high) &&
  forallb (fun '(a, b, price) => (a * one <? low * b) || (high * b <? a * one) || (threshold <=? - price * one)) symbols &&
  forallb (fun e =>
    forallb (fun '(a, b, u_x) =>
      let down := e * b - a * one in
      (down <=? 0) ||
      forallb (fun '(a', b', u_y) =>
        let up := a' * one - e * b' in
        (up <=? 0) || mixture_holds k threshold u_x u_y (down * b') (up * b)) symbols) symbols) [low; high].

(** The least that every leaf must reach: H(X) - u.P_X - the claim, rounded up over one^2. *)
Definition needed (f : file) (k : N) (u : list Z) : option Z :=
  ceiling (2 * Z.of_N k + 64)
    (Sub (entropy_of (columns f) (everybody f))
         (Add (Quo (Int (dot u (columns f))) (everybody f * two k)) (exactly (at_most f))))
    (2 * Z.of_N k).

(** Whether every leaf, or every symbol and pair, does, for the counts of f. *)
Definition reaches (f : file) (proof : certificate) (threshold : Z) : bool :=
  let k := proof_bits proof in
  let n := size f in
  (length (prices proof) =? n)%nat &&
  match by_what proof with
  | ByPairs low high => pairs_hold f k (prices proof) low high threshold
  | ByBoxes duals boxes =>
      let curve := remembered (phi_below k) in
      let dual := remembered (fun d =>
        match nth_error duals d with None => None | Some own => terms_of f proof own end) in
      holds (two k) threshold curve dual boxes (repeat 0 n) (repeat (two k) n)
  end.

(** Step 5a: the file with the counts of types, of which any mechanism will do. *)
Definition file_of_types (f : file) (m : merging) : file :=
  File (table m) 1 [map (fun t => (t, two 1)) (seq 0 (length (hd [] (table m))))] None (region f) (at_least f) (at_most f) None.

Definition at_number (l : list Z) (i : nat) : Z := nth i l 0.
Definition kind (l : list nat) (i : nat) : nat := nth i l 0%nat.

(** Whether P(s|x) / P(s) is that of group and type for every s and x, and the mass of a group that of its secrets. *)
Definition merges (f g : file) (m : merging) : bool :=
  let all := everybody f in
  let all' := everybody g in
  let n := columns f in
  let n' := columns g in
  let p := prior f in
  let p' := prior g in
  (length (types m) =? size f)%nat && (length (groups m) =? length (counts f))%nat &&
  forallb (fun t => t <? size g)%nat (types m) && forallb (fun i => i <? length (counts g))%nat (groups m) &&
  forallb (fun s =>
    let own := nth s (counts f) [] in
    let i := kind (groups m) s in
    let own' := nth i (counts g) [] in
    forallb (fun x =>
      let t := kind (types m) x in
      at_number own x * all * (at_number n' t * at_number p' i) =? at_number own' t * all' * (at_number n x * at_number p s))
      (seq 0 (size f))) (seq 0 (length (counts f))) &&
  forallb (fun i =>
    at_number p' i * all =?
    all' * zsum (map (fun s => if (kind (groups m) s =? i)%nat then at_number p s else 0) (seq 0 (length (counts f)))))
    (seq 0 (length (counts g))).

Definition proves (f : file) (proof : certificate) : bool :=
  let bound g u := match needed f (proof_bits proof) u with None => false | Some threshold => reaches g proof threshold end in
  match merged proof with
  | None => bound f (prices proof)
  | Some m =>
      let g := file_of_types f m in
      well_formed g && merges f g m && bound g (map (at_number (prices proof)) (types m))
  end.

Definition optimum_holds (f : file) : bool :=
  match proof f with
  | None => decide (precisions 0) (Sub (exactly (at_most f)) (entropy_of (columns f) (everybody f)))
  | Some proof => proves f proof
  end.

(** --- Verdict --- *)

Definition accepts (f : file) : bool :=
  well_formed f && promise_holds f && unseen_holds f && utility_holds f && optimum_holds f.
