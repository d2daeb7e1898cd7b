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

let at_most limit value =
  let found = decimal value in
  let unit = Z.pow (Z.of_int 10) (Z.to_int found.Proven.places) in
  need (Z.leq found.Proven.digits (Z.mul (Z.of_int limit) unit)) "a parameter is beyond its limit";
  found

let budget = at_most 1000

let of_one_budget =
  [ ("LDP", fun epsilon -> Proven.StatedLDP epsilon);
    ("TotalVariation", fun epsilon -> Proven.StatedTotalVariation epsilon);
    ("ChiSquare", fun epsilon -> Proven.StatedChiSquare epsilon);
    ("KL", fun epsilon -> Proven.StatedKL epsilon) ]

(* The order and the budget; of infinite order both are max-lift. *)
let of_order finite order epsilon =
  match order with
  | Text [ 105; 110; 102 ] -> Proven.StatedMaxLift (budget epsilon)
  | _ -> finite (at_most 1_000_000_000 order) (budget epsilon)

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
     | [ _; lower; upper ] -> Proven.StatedLIP (budget lower, budget upper)
     | _ -> assert false)
  | _ when List.mem_assoc name of_one_budget ->
    (match fields value [ "region"; "epsilon" ] with
     | [ _; epsilon ] -> List.assoc name of_one_budget (budget epsilon)
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

(* The nodes of a tree in preorder; recursion ends with the file's nodes. What docs/format.md asks of it beyond the theorem,
   that codes differ, and that duals and places exist, is asked here. *)
let tree bits duals nodes =
  let rest = ref nodes in
  let within place = need (Z.leq place (Z.shift_left Z.one bits)) "a place of the tree lies outside of the simplex"; place in
  let known dual = need (Z.lt dual (Z.of_int duals)) "a node of the tree has no dual"; dual in
  let rec slabs = function
    | [] -> []
    | code :: place :: more -> (code, within place) :: slabs more
    | [ _ ] -> refuse "a node of the tree is malformed"
  in
  let different cuts =
    need (List.length (List.sort_uniq Z.compare (List.map fst cuts)) = List.length cuts) "a node of the tree cuts a slab twice";
    List.map (fun (code, place) -> ((Z.shift_right code 1, Z.testbit code 0), place)) cuts
  in
  let rec node () =
    match !rest with
    | [] -> refuse "a node of the tree is missing"
    | first :: others ->
      rest := others;
      (match List.map natural (integers first) with
       | [ dual ] -> Proven.Leaf (known dual)
       | [ x; place ] -> let below = node () in let above = node () in Proven.Split (x, within place, below, above)
       | dual :: cuts when cuts <> [] -> let cuts = different (slabs cuts) in Proven.Trim (known dual, cuts, node ())
       | _ -> refuse "a node of the tree is malformed")
  in
  let found = node () in
  need (!rest = []) "the tree does not end with its last leaf";
  found

let certificate_bits value =
  let bits = integer value in
  need (Z.sign bits > 0 && Z.leq bits (Z.of_int 64)) "the certificate's bits must be from 1 to 64";
  bits

let proof merged bits prices by_what =
  Some { Proven.merged; proof_bits = certificate_bits bits; prices = integers prices; by_what }

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
         let duals = List.map integers (list duals) in
         let boxes = tree (Z.to_int (certificate_bits bits)) (List.length duals) (list nodes) in
         proof merged bits prices (Proven.ByBoxes (duals, boxes))
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

(* What files of a version have; later ones have more. *)
let keys version =
  [ "format"; "version"; "identity"; "labels"; "promise"; "claims"; "provenance"; "bits"; "unseen"; "weights"; "joint"; "certificate" ]
  @ (if version >= 2 then [ "table"; "after" ] else [])
  @ (if version >= 4 then [ "utility" ] else [])
  @ (if version >= 5 then [ "margin" ] else [])

(* A row of weights is pairs; before version 3 a weight for every symbol. *)
let row version listed =
  let listed = List.map natural (integers listed) in
  if version >= 3 then pairs listed
  else List.filter (fun (_, weight) -> Z.sign weight > 0) (List.mapi (fun x weight -> (Z.of_int x, weight)) listed)

(* The file of the theorem, and its identity; [Refused] with a reason if it is not of the form, or not covered. *)
let file content =
  let value = parse content in
  let stated = match value with Object stated -> stated | _ -> refuse "the file must be an object" in
  let version =
    match List.assoc_opt "version" stated with
    | Some (Integer version) when Z.sign version > 0 && Z.leq version (Z.of_int 5) -> Z.to_int version
    | _ -> refuse "only versions 1 to 5 are read here"
  in
  ignore (fields value (keys version));
  let own key = List.assoc key stated and later key = Option.value (List.assoc_opt key stated) ~default:Null in
  need (word (own "format") = "alphalift-mechanism") "not a file of this format";
  need (later "margin" = Null) "nothing is proven here about margins";
  need (later "after" = Null) "nothing is proven here about files that come after others";
  (match List.assoc_opt "utility" stated with
   | None -> ()
   | Some (Object [ ("name", name) ]) when word name = "MutualInformation" -> ()
   | Some Null -> refuse "nothing is proven here about files without a utility"
   | Some _ -> refuse "nothing is proven here about other utilities than MutualInformation");
  let labels = fields (own "labels") [ "s"; "x"; "y" ] in
  let names = List.map (fun value -> List.map text (list value)) labels in
  need (List.for_all (fun own -> own <> [] && List.length (List.sort_uniq compare own) = List.length own) names)
    "labels must be different texts";
  (match own "joint" with Object [ ("commitment", _) ] -> refuse "the counts are withheld" | _ -> ());
  let counts = List.map integers (list (List.hd (fields (own "joint") [ "counts" ]))) in
  let bits = integer (own "bits") in
  need (Z.sign bits > 0 && Z.leq bits (Z.of_int 4096)) "bits must be from 1 to 4096";
  let at_least, at_most =
    match fields (own "claims") [ "utility_at_least"; "optimum_at_most" ] with
    | [ least; most ] -> (decimal least, decimal most)
    | _ -> assert false
  in
  let hashed = Buffer.create 1000 in
  print hashed (List (labels @ [ own "bits"; own "weights"; own "unseen" ]));
  need (word (own "identity") = "sha256:" ^ Sha256.hex (Buffer.contents hashed)) "the identity is not that of these integers";
  let rows = list (own "weights") in
  let sizes = [ List.length counts; (match counts with row :: _ -> List.length row | [] -> 0); List.length rows ] in
  need (List.map List.length names = sizes) "labels and integers differ in number";
  need (version >= 3 || List.for_all (fun row -> List.length (list row) = List.nth sizes 1) rows) "a row of weights has another length";
  { Proven.counts; bits; weights = List.map (row version) rows;
    unseen = (match own "unseen" with Null -> None | answers -> Some (integers answers));
    region = region (own "promise"); at_least; at_most; proof = certificate counts (own "certificate") }
