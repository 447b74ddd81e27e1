; Lua.

; --- Definitions

(function_declaration "local" @visibility name: (identifier) @name body: (block) @body) @definition.function
(function_declaration "local" @visibility name: (identifier) @name !body "end" @body) @definition.function
(function_declaration name: (identifier) @name body: (block) @body) @definition.function
(function_declaration name: (identifier) @name !body "end" @body) @definition.function
; `function M.run()` and `function Account:deposit()` belong to a table.
(function_declaration name: (dot_index_expression table: (_) @owner field: (_) @name) body: (block) @body) @definition.function
(function_declaration name: (dot_index_expression table: (_) @owner field: (_) @name) !body "end" @body) @definition.function
(function_declaration name: (method_index_expression table: (_) @owner method: (_) @name) body: (block) @body) @definition.method
(function_declaration name: (method_index_expression table: (_) @owner method: (_) @name) !body "end" @body) @definition.method

(variable_declaration "local" @visibility (assignment_statement (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_definition body: (block) @body) .))) @definition.function
(variable_declaration "local" @visibility (assignment_statement (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_definition !body "end" @body) .))) @definition.function
((assignment_statement (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_definition body: (block) @body) .)) @definition.function (#set! assigned "true"))
((assignment_statement (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_definition !body "end" @body) .)) @definition.function (#set! assigned "true"))
(assignment_statement (variable_list . name: (dot_index_expression table: (_) @owner field: (_) @name) .)
  (expression_list . value: (function_definition body: (block) @body) .)) @definition.function
(assignment_statement (variable_list . name: (dot_index_expression table: (_) @owner field: (_) @name) .)
  (expression_list . value: (function_definition !body "end" @body) .)) @definition.function
; Functions of named tables, and of the table that a file returns.
(variable_declaration (assignment_statement (expression_list value: (table_constructor
  (field name: (identifier) @name value: (function_definition body: (block)? @body)) @definition.function))))
(chunk (assignment_statement (expression_list value: (table_constructor
  (field name: (identifier) @name value: (function_definition body: (block)? @body)) @definition.function))))
(chunk (return_statement (expression_list (table_constructor
  (field name: (identifier) @name value: (function_definition body: (block)? @body)) @definition.function))))
(function_definition) @local

; Classes of common libraries: `Base:extend()`, `class("Name", Base)`.
((variable_declaration "local" @visibility (assignment_statement (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_call name: (method_index_expression method: (_) @_extend)) .))) @definition.class
  (#any-of? @_extend "extend" "subclass"))
((variable_declaration "local" @visibility (assignment_statement (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_call name: (identifier) @_class arguments: (arguments . (string))) .))) @definition.class
  (#eq? @_class "class"))
((assignment_statement (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_call name: (identifier) @_class arguments: (arguments . (string))) .)) @definition.class
  (#eq? @_class "class"))

; A table inside a function counts if it is a class.
(variable_declaration "local" @visibility (assignment_statement (variable_list . name: (identifier) @name .)
  (expression_list . value: (table_constructor . (field)) @body .))) @definition.variable
(variable_declaration "local" @visibility (assignment_statement (variable_list . name: (identifier) @name .)
  (expression_list . value: [(table_constructor) (function_call)] .))) @definition.variable
((chunk (variable_declaration "local" @visibility (assignment_statement (variable_list name: (identifier) @name attribute: (attribute (identifier) @_attribute)))) @definition.constant)
  (#eq? @_attribute "const"))
(chunk (variable_declaration "local" @visibility (assignment_statement (variable_list name: (identifier) @name))) @definition.variable)
(chunk (variable_declaration "local" @visibility (variable_list name: (identifier) @name)) @definition.variable)
; Assigning a variable of the file defines nothing; assigning another one makes it global. The same for
; fields.
((chunk (assignment_statement (variable_list name: (identifier) @name)) @definition.variable) (#set! assigned "true"))
((chunk (assignment_statement (variable_list name: (dot_index_expression table: (_) @owner field: (_) @name))) @definition.constant)
  (#set! assigned "true") (#match? @name "^[A-Z][A-Z0-9_]*$"))
((chunk (assignment_statement (variable_list name: (dot_index_expression table: (_) @owner field: (_) @name))) @definition.field)
  (#set! assigned "true"))
(assignment_statement (variable_list name: (dot_index_expression table: (identifier) @receiver field: (_) @name))) @definition.field

; Evidence that a table is a module or a class.
(function_declaration name: (dot_index_expression table: (_) @becomes.module))
(function_declaration name: (method_index_expression table: (_) @becomes.module))
(assignment_statement (variable_list . name: (dot_index_expression table: (_) @becomes.module) .)
  (expression_list . value: (function_definition) .))
(assignment_statement (variable_list . name: (identifier) @becomes.module .)
  (expression_list . value: (table_constructor (field name: (identifier) value: (function_definition))) .))
((assignment_statement (variable_list . name: (dot_index_expression table: (_) @becomes.class field: (_) @_index) .)
  (expression_list . value: (identifier) @_own .)) (#eq? @_index "__index") (#eq? @becomes.class @_own))
((chunk (function_call name: (identifier) @_set arguments: (arguments . (identifier) @becomes.class . (table_constructor (field name: (identifier) @_index)))))
  (#eq? @_set "setmetatable") (#eq? @_index "__index"))
((chunk (variable_declaration (assignment_statement (variable_list . name: (identifier) @becomes.class .)
  (expression_list . value: (function_call name: (identifier) @_set arguments: (arguments . (table_constructor) . (table_constructor (field name: (identifier) @_index)))) .))))
  (#eq? @_set "setmetatable") (#eq? @_index "__index"))
((function_call name: (identifier) @_set arguments: (arguments . (table_constructor) . (identifier) @becomes.class))
  (#eq? @_set "setmetatable"))

(comment) @comment

; --- Imports

((variable_declaration (assignment_statement (variable_list . name: (identifier) @import.namespace .)
  (expression_list . value: (function_call name: (identifier) @_require arguments: (arguments . (string) @import.module)) .))) @import
  (#any-of? @_require "require" "dofile"))
((variable_declaration (assignment_statement (variable_list . name: (identifier) @_local .)
  (expression_list . value: (dot_index_expression
    table: (function_call name: (identifier) @_require arguments: (arguments . (string) @import.module)) field: (_) @import.name) .))) @import
  (#eq? @_require "require") (#eq? @_local @import.name))
((function_call name: (identifier) @_require arguments: (arguments . (string) @import.module)) @import
  (#any-of? @_require "require" "dofile"))
((chunk (function_call name: (identifier) @_require arguments: (arguments . (string) @import.module @import.wildcard)) @import)
  (#any-of? @_require "require" "dofile"))
((variable_declaration (assignment_statement (variable_list . (identifier) . (identifier) @import.namespace .)
  (expression_list . value: (function_call name: (identifier) @_pcall
    arguments: (arguments . (identifier) @_require . (string) @import.module)) .))) @import
  (#eq? @_pcall "pcall") (#eq? @_require "require"))
((function_call name: (identifier) @_pcall arguments: (arguments . (identifier) @_require . (string) @import.module)) @import
  (#eq? @_pcall "pcall") (#eq? @_require "require"))

; --- The value that a file returns is the value of `require`

((chunk (return_statement (expression_list . (identifier) @export.name .))) (#set! export_as "default"))
((chunk (return_statement (expression_list . (function_call name: (identifier) @_set arguments: (arguments . (identifier) @export.name)) .)))
  (#set! export_as "default") (#eq? @_set "setmetatable"))
(chunk (return_statement (expression_list . (table_constructor
  (field name: (identifier) @export.alias value: [(identifier) (dot_index_expression)] @export.name)) .)))

; --- References

(function_call name: (identifier) @name arguments: (_) @arguments) @reference.call
(function_call name: (dot_index_expression table: (_) @receiver field: (_) @name) arguments: (_) @arguments) @reference.call
(function_call name: (method_index_expression table: (_) @receiver method: (_) @name) arguments: (_) @arguments) @reference.call

; An object is a table whose metatable is the class, or whose metatable looks into the class.
((function_call name: (identifier) @_set arguments: (arguments . (_) . (identifier) @reference.instantiate .)) (#eq? @_set "setmetatable"))

((function_call name: (identifier) @_set arguments: (arguments . (_) . (table_constructor (field name: (identifier) @_index value: (identifier) @reference.instantiate))))
  (#eq? @_set "setmetatable") (#eq? @_index "__index"))

; At the top of a file the table is a class: `setmetatable(Derived, { __index = Base })`.
((chunk (function_call name: (identifier) @_set arguments: (arguments . (identifier) @owner . (table_constructor (field name: (identifier) @_index)))) @scope)
  (#eq? @_set "setmetatable") (#eq? @_index "__index"))
((chunk (function_call name: (identifier) @_set
  arguments: (arguments . (_) . (table_constructor (field name: (identifier) @_index value: (identifier) @reference.extend)))))
  (#eq? @_set "setmetatable") (#eq? @_index "__index"))
((chunk (variable_declaration (assignment_statement (expression_list . value: (function_call name: (identifier) @_set
  arguments: (arguments . (_) . (table_constructor (field name: (identifier) @_index value: (identifier) @reference.extend)))) .))))
  (#eq? @_set "setmetatable") (#eq? @_index "__index"))
((variable_declaration (assignment_statement (expression_list . value: (function_call
  name: (method_index_expression table: (identifier) @reference.extend method: (_) @_extend)) .)))
  (#any-of? @_extend "extend" "subclass"))
((function_call name: (identifier) @_class arguments: (arguments . (string) . (identifier) @reference.extend)) (#eq? @_class "class"))

(arguments (identifier) @reference.value)
(arguments (dot_index_expression table: (_) @receiver field: (_) @name) @reference.value)
(field value: (identifier) @reference.value)
(field value: (dot_index_expression table: (_) @receiver field: (_) @name) @reference.value)
(assignment_statement (expression_list value: (identifier) @reference.value))
(assignment_statement (expression_list value: (dot_index_expression table: (_) @receiver field: (_) @name) @reference.value))
(return_statement (expression_list (identifier) @reference.value))

; --- Evident types

((assignment_statement (variable_list . name: (_) @binding.name .)
  (expression_list . value: (function_call name: [
    (dot_index_expression table: (_) @binding.type field: (_) @binding.function)
    (method_index_expression table: (_) @binding.type method: (_) @binding.function)]) .)) @binding.constructor)
((assignment_statement (variable_list . name: (_) @binding.name .)
  (expression_list . value: (function_call name: (identifier) @_set arguments: (arguments . (_) . (identifier) @binding.type .)) .)) @binding.constructor
  (#eq? @_set "setmetatable"))

; --- Parameters and locals that hide outer names

(parameters name: (identifier) @binding.opaque)
(variable_declaration (variable_list name: (identifier) @binding.opaque))
(variable_declaration (assignment_statement (variable_list name: (identifier) @binding.opaque)))
(for_generic_clause (variable_list name: (identifier) @binding.opaque))
(for_numeric_clause name: (identifier) @binding.opaque)
