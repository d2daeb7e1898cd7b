(* From JSON to the data of the theorem: docs/format.md, as far as the proof goes. *)

open Json

let need good reason = if not good then refuse reason

let decimal value =
  let text = word value in
  let digits part most = part <> "" && String.length part <= most && String.for_all (fun c -> c >= '0' && c <= '9') part in
  match String.split_on_char '.' text with
  | [ whole ] when digits whole 30 -> { Proven.digits = Z.of_string whole; places = Z.zero }
  | [ whole; rest ] when digits whole 30 && digits rest 400 ->
    { Proven.digits = Z.of_string (whole ^ rest); places = Z.of_int (String.length rest) }
  | _ -> refuse "a decimal in quotes is missing"

let of_one_budget =
  [ ("LDP", fun epsilon -> Proven.StatedLDP epsilon);
    ("TotalVariation", fun epsilon -> Proven.StatedTotalVariation epsilon);
    ("ChiSquare", fun epsilon -> Proven.StatedChiSquare epsilon);
    ("KL", fun epsilon -> Proven.StatedKL epsilon) ]

(* The order and the budget; of infinite order both are max-lift. *)
let of_order finite order epsilon =
  match order with
  | Text [ 105; 110; 102 ] -> Proven.StatedMaxLift (decimal epsilon)
  | _ -> finite (decimal order) (decimal epsilon)

let one_promise name value =
  match name with
  | "AlphaLift" ->
    (match fields value [ "region"; "alpha"; "epsilon" ] with
     | [ _; alpha; epsilon ] -> of_order (fun alpha epsilon -> Proven.StatedAlphaLift (alpha, epsilon)) alpha epsilon
     | _ -> assert false)
  | "Renyi" ->
    (match fields value [ "region"; "order"; "epsilon" ] with
     | [ _; order; epsilon ] -> of_order (fun order epsilon -> Proven.StatedRenyi (order, epsilon)) order epsilon
     | _ -> assert false)
  | "LIP" ->
    (match fields value [ "region"; "lower"; "upper" ] with
     | [ _; lower; upper ] -> Proven.StatedLIP (decimal lower, decimal upper)
     | _ -> assert false)
  | _ when List.mem_assoc name of_one_budget ->
    (match fields value [ "region"; "epsilon" ] with
     | [ _; epsilon ] -> List.assoc name of_one_budget (decimal epsilon)
     | _ -> assert false)
  | _ -> refuse ("nothing is proven here about the promise " ^ name)

let name_of value =
  match value with
  | Object pairs when List.mem_assoc "region" pairs -> word (List.assoc "region" pairs)
  | _ -> refuse "a promise must be an object with a region"

let rec both = function
  | [ last ] -> last
  | first :: others -> Proven.StatedBoth (first, both others)
  | [] -> assert false

let region value =
  match name_of value with
  | "Intersection" ->
    let parts = list (List.nth (fields value [ "region"; "parts" ]) 1) in
    need (List.length parts >= 2 && List.length parts <= 8) "an intersection must have 2 to 8 parts";
    both (List.map (fun part -> one_promise (name_of part) part) parts)
  | name -> one_promise name value

let rec pairs = function
  | [] -> []
  | x :: weight :: rest -> (x, weight) :: pairs rest
  | [ _ ] -> refuse "a row of weights must be pairs"

let natural z = need (Z.sign z >= 0) "an integer is negative"; z

(* The nodes of a tree in preorder; recursion ends with the file's nodes. *)
let tree nodes =
  let rest = ref nodes in
  let rec slabs = function
    | [] -> []
    | code :: place :: more -> ((Z.shift_right code 1, Z.testbit code 0), place) :: slabs more
    | [ _ ] -> refuse "a node of the tree is malformed"
  in
  let rec node () =
    match !rest with
    | [] -> refuse "a node of the tree is missing"
    | first :: others ->
      rest := others;
      (match List.map natural (integers first) with
       | [ dual ] -> Proven.Leaf dual
       | [ x; place ] -> let below = node () in let above = node () in Proven.Split (x, place, below, above)
       | dual :: cuts when cuts <> [] -> let cuts = slabs cuts in Proven.Trim (dual, cuts, node ())
       | _ -> refuse "a node of the tree is malformed")
  in
  let found = node () in
  need (!rest = []) "the tree does not end with its last leaf";
  found

let proof merged bits prices by_what =
  let bits = integer bits in
  need (Z.sign bits > 0 && Z.leq bits (Z.of_int 64)) "the certificate's bits must be from 1 to 64";
  Some { Proven.merged; proof_bits = bits; prices = integers prices; by_what }

(* Rows that are proportional added up, in the order of first occurrences, and the number of each row's sum. *)
let together rows =
  let numbers = Hashtbl.create 1000 and sums = Hashtbl.create 1000 in
  let number row =
    let divisor = List.fold_left Z.gcd Z.zero row in
    let key = List.map (fun n -> Z.to_string (if Z.sign divisor = 0 then n else Z.divexact n divisor)) row in
    if not (Hashtbl.mem numbers key) then Hashtbl.add numbers key (Hashtbl.length numbers);
    let own = Hashtbl.find numbers key in
    let added = match Hashtbl.find_opt sums own with None -> row | Some before -> List.map2 Z.add before row in
    Hashtbl.replace sums own added;
    Z.of_int own
  in
  let found = List.map number rows in
  (found, List.init (Hashtbl.length sums) (Hashtbl.find sums))

let rec transposed = function
  | [] | [] :: _ -> []
  | rows -> List.map List.hd rows :: transposed (List.map List.tl rows)

(* Symbols, then secrets: the theorem holds for any, if the program accepts what was merged. *)
let merging counts =
  let size = match counts with row :: _ -> List.length row | [] -> 0 in
  need (List.for_all (fun row -> List.length row = size) counts) "rows of counts differ in length";
  let types, columns = together (transposed counts) in
  let groups, table = together (transposed columns) in
  { Proven.table; types; groups }

let kind_of value =
  match value with
  | Object pairs when List.mem_assoc "kind" pairs -> word (List.assoc "kind" pairs)
  | _ -> refuse "a certificate must be an object with a kind"

let certificate counts value =
  let direct merged value =
    match kind_of value with
    | "tree" ->
      (match fields value [ "kind"; "bits"; "prices"; "duals"; "tree" ] with
       | [ _; bits; prices; duals; nodes ] ->
         proof merged bits prices (Proven.ByBoxes (List.map integers (list duals), tree (list nodes)))
       | _ -> assert false)
    | "pairs" ->
      (match fields value [ "kind"; "bits"; "prices"; "ends" ] with
       | [ _; bits; prices; List [ Integer low; Integer high ] ] -> proof merged bits prices (Proven.ByPairs (low, high))
       | _ -> refuse "the ends must be two integers")
    | kind -> refuse ("nothing is proven here from certificates of the kind " ^ kind)
  in
  match value with
  | Null -> None
  | _ when kind_of value = "merged" ->
    (match fields value [ "kind"; "proof" ] with
     | [ _; proof ] -> direct (Some (merging counts)) proof
     | _ -> assert false)
  | _ -> direct None value

(* Of version 4; version 5 has a margin, too. *)
let keys =
  [ "format"; "version"; "identity"; "labels"; "promise"; "utility"; "claims"; "provenance"; "bits"; "unseen"; "weights";
    "joint"; "certificate"; "table"; "after" ]

(* The file of the theorem, and its identity; [Refused] with a reason if it is not of the form, or not covered. *)
let file content =
  let value = parse content in
  let newest, own =
    match value with
    | Object (_ :: _ as pairs) when List.mem_assoc "margin" pairs ->
      need (List.assoc "margin" pairs = Null) "nothing is proven here about margins";
      (5, Object (List.remove_assoc "margin" pairs))
    | _ -> (4, value)
  in
  match fields own keys with
  | [ format; version; identity; labels; promise; utility; claims; _; bits; unseen; weights; joint; proof; _; after ] ->
    need (word format = "alphalift-mechanism") "not a file of this format";
    need (integer version = Z.of_int newest) "only versions 4 and 5 are read here";
    need (after = Null) "nothing is proven here about files that come after others";
    need (utility <> Null) "nothing is proven here about files without a utility";
    (match utility with
     | Object [ ("name", name) ] when word name = "MutualInformation" -> ()
     | _ -> refuse "nothing is proven here about other utilities than MutualInformation");
    let names = List.map (fun value -> List.map (fun label -> text label) (list value)) (fields labels [ "s"; "x"; "y" ]) in
    need (List.for_all (fun own -> own <> [] && List.length (List.sort_uniq compare own) = List.length own) names)
      "labels must be different texts";
    (match joint with Object [ ("commitment", _) ] -> refuse "the counts are withheld" | _ -> ());
    let counts = List.map integers (list (List.hd (fields joint [ "counts" ]))) in
    let bits_of = integer bits in
    need (Z.sign bits_of > 0 && Z.leq bits_of (Z.of_int 4096)) "bits must be from 1 to 4096";
    let at_least, at_most =
      match fields claims [ "utility_at_least"; "optimum_at_most" ] with
      | [ least; most ] -> (decimal least, decimal most)
      | _ -> assert false
    in
    let hashed = Buffer.create 1000 in
    print hashed (List (fields labels [ "s"; "x"; "y" ] @ [ bits; weights; unseen ]));
    need (word identity = "sha256:" ^ Sha256.hex (Buffer.contents hashed)) "the identity is not that of these integers";
    let rows = List.map (fun row -> pairs (List.map natural (integers row))) (list weights) in
    let sizes = [ List.length counts; (match counts with row :: _ -> List.length row | [] -> 0); List.length rows ] in
    need (List.map List.length names = sizes) "labels and integers differ in number";
    { Proven.counts; bits = bits_of; weights = rows; unseen = (match unseen with Null -> None | own -> Some (integers own));
      region = region promise; at_least; at_most; proof = certificate counts proof }
  | _ -> assert false
