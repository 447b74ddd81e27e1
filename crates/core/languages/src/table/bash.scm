; Bash and other shells.
;
; Variables and functions have separate namespaces: a local variable hides no function, so none is opaque.

; --- Definitions

(function_definition name: (word) @name body: (_) @body) @definition.function

((declaration_command "readonly" (variable_assignment name: (variable_name) @name) @definition.constant) (#set! signature "readonly"))
((declaration_command "readonly" (variable_name) @name @definition.constant) (#set! signature "readonly") (#set! assigned "true"))
((declaration_command "declare" (word) @_flags (variable_assignment name: (variable_name) @name) @definition.constant)
  (#match? @_flags "^-[a-zA-Z]*r") (#set! signature "declare"))
((declaration_command "typeset" (word) @_flags (variable_assignment name: (variable_name) @name) @definition.constant)
  (#match? @_flags "^-[a-zA-Z]*r") (#set! signature "typeset"))
((declaration_command "declare" (variable_assignment name: (variable_name) @name) @definition.variable)
  (#set! signature "declare") (#set! assigned "true"))
((declaration_command "typeset" (variable_assignment name: (variable_name) @name) @definition.variable)
  (#set! signature "typeset") (#set! assigned "true"))
((declaration_command "declare" (variable_name) @name @definition.variable) (#set! signature "declare") (#set! assigned "true"))
((declaration_command "typeset" (variable_name) @name @definition.variable) (#set! signature "typeset") (#set! assigned "true"))
((declaration_command "export" (variable_assignment name: (variable_name) @name) @definition.variable)
  (#set! signature "export") (#set! assigned "true"))

; An assignment declares a name that is not declared before.
((program (variable_assignment name: (variable_name) @name) @definition.variable) (#set! assigned "true"))
((variable_assignments (variable_assignment name: (variable_name) @name) @definition.variable) (#set! assigned "true"))
((if_statement (variable_assignment name: (variable_name) @name) @definition.variable) (#set! assigned "true"))
((elif_clause (variable_assignment name: (variable_name) @name) @definition.variable) (#set! assigned "true"))
((else_clause (variable_assignment name: (variable_name) @name) @definition.variable) (#set! assigned "true"))
((case_item (variable_assignment name: (variable_name) @name) @definition.variable) (#set! assigned "true"))
((list (variable_assignment name: (variable_name) @name) @definition.variable) (#set! assigned "true"))

; Tests of bats. The grammar does not see their blocks.
((command name: (command_name (word) @_test) . argument: [(string (string_content) @name) (raw_string) @name]) @definition.function
  (#eq? @_test "@test") (#set! test "true"))

(declaration_command) @wrapper
(comment) @comment

; --- Imports

((command name: (command_name (word) @_source) . argument: [(word) (string) (raw_string) (concatenation)] @import.module) @import
  (#any-of? @_source "source" ".") (#set! wildcard "true"))
((command name: (command_name (word) @_load) . argument: [(word) (string) (raw_string) (concatenation)] @import.module) @import
  (#eq? @_load "load") (#match? @import.module "helper|bats|/load") (#set! wildcard "true"))

; --- References

((command_name (word) @reference.call) (#not-match? @reference.call "/"))
; Commands that another command runs, and functions that are passed on.
((command name: (command_name (word) @_run) . argument: (word) @reference.call) (#any-of? @_run "run" "time"))
((command name: (command_name) . argument: (word) @reference.value) (#match? @reference.value "[a-z0-9](_|::)[a-z]"))
((command name: (command_name (word) @_command) argument: (word) @reference.value)
  (#any-of? @_command "trap" "complete" "add-zsh-hook" "unset"))
((command name: (command_name (word) @_trap) . argument: (string (string_content) @reference.value)) (#eq? @_trap "trap"))
(declaration_command "export" (variable_name) @reference.value)
