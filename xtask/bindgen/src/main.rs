//! `contextweaver-bindgen <name> <module.wasm> <folder> [--strip]`: the JavaScript and declarations around a module, and the
//! module as these call it. `--strip` leaves out the names of functions.

use std::env;
use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let (name, module, folder, is_stripped) = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [name, module, folder] => (name, module, folder, false),
        [name, module, folder, "--strip"] => (name, module, folder, true),
        _ => {
            eprintln!("usage: contextweaver-bindgen <name> <module.wasm> <folder> [--strip]");
            return ExitCode::from(2);
        }
    };
    let mut bindgen = Bindgen::new();
    let generated = bindgen.web(true).and_then(|bindgen| {
        bindgen
            .input_path(module)
            .out_name(name)
            .typescript(true)
            // Keeps `new URL("agent_bg.wasm", import.meta.url)` out of the glue: bundlers would emit a second copy.
            .omit_default_module_path(true)
            // The way back after a trap.
            .reset_state_function(true)
            .remove_name_section(is_stripped)
            .remove_producers_section(is_stripped)
            .generate(folder)
    });
    match generated {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:?}");
            ExitCode::FAILURE
        }
    }
}
