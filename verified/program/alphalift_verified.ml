(* alphalift-verified FILE: whether the theorem applies to a mechanism file. Exit code 0 if it does, 1 if not. *)

let largest = 60_000_000

let content path =
  let channel = open_in_bin path in
  Fun.protect ~finally:(fun () -> close_in channel) (fun () ->
      let size = in_channel_length channel in
      if size > largest then raise (Json.Refused "the file is too large");
      really_input_string channel size)

let claims file =
  [ ("promise", Proven.promise_holds file) ]
  @ (match file.Proven.unseen with None -> [] | Some _ -> [ ("unseen values", Proven.promise_holds file && Proven.unseen_holds file) ])
  @ [ ("utility", Proven.promise_holds file && Proven.utility_holds file); ("optimum", Proven.optimum_holds file) ]

let say proven claim = Printf.printf "%10s  %s\n" (if proven then "proven" else "NOT PROVEN") claim

let check path =
  let file = Reading.file (content path) in
  if Proven.accepts file then begin
    List.iter (say true)
      ([ "form"; "promise" ] @ (match file.Proven.unseen with None -> [] | Some _ -> [ "unseen values" ]) @ [ "utility"; "optimum" ]);
    0
  end
  else begin
    let formed = Proven.well_formed file in
    say formed "form";
    if formed then List.iter (fun (claim, proven) -> say proven claim) (claims file);
    1
  end

let () =
  let refused reason = say false ("form: " ^ reason); 1 in
  match Sys.argv with
  | [| _; path |] when path <> "" && path.[0] <> '-' ->
    exit
      (try check path with
       | Json.Refused reason -> refused reason
       | Stack_overflow | Out_of_memory | Z.Overflow | Failure _ -> refused "it is too large for this program"
       | Sys_error reason -> prerr_endline reason; 1)
  | _ -> prerr_endline "usage: alphalift-verified FILE"; exit 2
