; Zig. A file is a struct; a declaration in it gets its name from the constant that is set to it.
; A function that returns a type declared in it is that type, with parameters.

; --- Definitions

(function_declaration name: (identifier) @name body: (block) @body) @definition.function
((function_declaration name: (identifier) @name !body) @definition.function (#set! declaration "true"))
(function_declaration . ["pub" "export"] @visibility name: (identifier) @name) @definition.function
((return_expression (struct_declaration)) @scope (#set! becomes "struct"))
((return_expression (union_declaration)) @scope (#set! becomes "struct"))
((return_expression (enum_declaration)) @scope (#set! becomes "enum"))

(variable_declaration . "const" . (identifier) @name . "=" . (struct_declaration "{" @body)) @definition.struct
(variable_declaration . "const" . (identifier) @name . "=" . (union_declaration "{" @body)) @definition.struct
(variable_declaration . "const" . (identifier) @name . "=" . (opaque_declaration "{" @body)) @definition.struct
(variable_declaration . "const" . (identifier) @name . "=" . (enum_declaration "{" @body)) @definition.enum
(variable_declaration . "const" . (identifier) @name . "=" . (error_set_declaration "{" @body)) @definition.enum
(variable_declaration . "const" . (identifier) @name . (binary_expression operator: "||")) @definition.enum
(variable_declaration . "const" . (identifier) @name . (function_signature)) @definition.type
; By convention, only types have such names.
((variable_declaration . "const" . (identifier) @name . [(field_expression) (call_expression) (builtin_function) (identifier) (nullable_type) (pointer_type) (slice_type) (array_type) (error_union_type)]) @definition.type
  (#match? @name "^[A-Z][A-Za-z0-9]*[a-z]") (#set! not_local "true"))
((variable_declaration . "const" . (identifier) @name) @definition.constant (#set! not_local "true"))
(variable_declaration . "var" . (identifier) @name) @definition.variable
(variable_declaration . ["pub" "export"] @visibility . (identifier) @name) @definition.variable

; Fields and members of enumerations have the visibility of their container.
((container_field name: (identifier) @name type: (_)) @definition.field (#set! visibility "public"))
((union_declaration (container_field name: (identifier) @name !type) @definition.field) (#set! visibility "public"))
((enum_declaration (container_field name: (identifier) @name !type) @definition.constant) (#set! visibility "public") (#set! not_local "true"))
((variable_declaration . (identifier) . (error_set_declaration (identifier) @name @definition.constant)) (#set! visibility "public"))
((variable_declaration . (identifier) . (binary_expression left: (error_set_declaration (identifier) @name @definition.constant))) (#set! visibility "public"))
((variable_declaration . (identifier) . (binary_expression left: (binary_expression left: (error_set_declaration (identifier) @name @definition.constant)))) (#set! visibility "public"))

((test_declaration (string) @name (block) @body) @definition.function (#set! test "true"))
; A test of a declaration, or a test without a name.
((test_declaration . (identifier) (block) @body) @definition.function (#set! test "true") (#set! name "test"))
((test_declaration . (block) @body) @definition.function (#set! test "true") (#set! name "test"))
(comptime_declaration) @local

(comment) @comment

((parameter name: (identifier) @type_parameter type: (builtin_type) @_type) (#eq? @_type "type"))

; --- Imports

((variable_declaration . ["const" "var"] . (identifier) @import.bound .
  (builtin_function (builtin_identifier) @_import (arguments (string (string_content) @import.module)))) @import
  (#eq? @_import "@import"))
((variable_declaration . ["const" "var"] . (identifier) @import.bound .
  (field_expression object: (builtin_function (builtin_identifier) @_import (arguments (string (string_content) @import.module)))
    member: (identifier) @import.name)) @import
  (#eq? @_import "@import"))
((variable_declaration . ["const" "var"] . (identifier) @import.bound . (builtin_function (builtin_identifier) @_import)) @import
  (#eq? @_import "@cImport"))
((using_namespace_declaration (builtin_function (builtin_identifier) @_import (arguments (string (string_content) @import.module)))) @import
  (#eq? @_import "@import") (#set! wildcard "true"))
; An import whose value is used at once.
((builtin_function (builtin_identifier) @_import (arguments (string (string_content) @import.module))) @import
  (#any-of? @_import "@import" "@cInclude"))
(variable_declaration . "pub" @reexport)
(using_namespace_declaration . "pub" @reexport)

; --- References

((call_expression function: (identifier) @name) @arguments @reference.call (#set! holds_callee "true"))
((call_expression function: (field_expression object: (_) @receiver member: (identifier) @name)) @arguments @reference.call (#set! holds_callee "true"))

(struct_initializer . (identifier) @reference.instantiate)
(struct_initializer . (field_expression object: (_) @receiver member: (identifier) @name)) @reference.instantiate
(struct_initializer . (call_expression function: (identifier) @reference.instantiate))
(struct_initializer . (call_expression function: (field_expression object: (_) @receiver member: (identifier) @name))) @reference.instantiate

; The declarations of another type become part of this one.
(using_namespace_declaration [(identifier) (field_expression)] @path) @reference.extend
(using_namespace_declaration (call_expression function: [(identifier) (field_expression)] @path)) @reference.extend

(parameter type: [(identifier) (field_expression)] @path) @reference.type_use
(container_field type: [(identifier) (field_expression)] @path) @reference.type_use
; Structures without field names.
((container_field name: (identifier) @reference.type_use !type) (#set! capitalized "true"))
(variable_declaration type: [(identifier) (field_expression)] @path) @reference.type_use
(function_declaration type: [(identifier) (field_expression)] @path) @reference.type_use
(function_signature type: [(identifier) (field_expression)] @path) @reference.type_use
(pointer_type [(identifier) (field_expression)] @path .) @reference.type_use
(slice_type [(identifier) (field_expression)] @path .) @reference.type_use
(array_type [(identifier) (field_expression)] @path .) @reference.type_use
(nullable_type [(identifier) (field_expression)] @path) @reference.type_use
; The grammar reads `!done` as a type.
((error_union_type [(identifier) (field_expression)] @path) @reference.type_use (#set! capitalized "true"))
(enum_declaration "(" (identifier) @reference.type_use ")")
(union_declaration "(" (identifier) @reference.type_use ")")
((binary_expression left: [(identifier) (field_expression)] @path operator: "||") @reference.type_use (#set! capitalized "true"))
((binary_expression operator: "||" right: [(identifier) (field_expression)] @path) @reference.type_use (#set! capitalized "true"))
; Types as values: names in the style of types.
((call_expression [(identifier) (field_expression)] @path) @reference.type_use (#set! capitalized "true"))
((arguments [(identifier) (field_expression)] @path) @reference.type_use (#set! capitalized "true"))
((field_expression object: (identifier) @reference.type_use) (#set! capitalized "true"))
((field_expression object: (field_expression object: (_) @receiver member: (identifier) @name)) @reference.type_use (#set! capitalized "true"))
((variable_declaration . (identifier) . [(identifier) (field_expression)] @path) @reference.type_use (#set! capitalized "true"))

(call_expression (identifier) @reference.value)
(call_expression (field_expression object: (_) @receiver member: (identifier) @name) @reference.value)
(unary_expression operator: "&" argument: (identifier) @reference.value)
(unary_expression operator: "&" argument: (field_expression object: (_) @receiver member: (identifier) @name)) @reference.value
(assignment_expression left: (field_expression !object) right: (identifier) @reference.value)
(assignment_expression left: (field_expression !object) right: (field_expression object: (_) @receiver member: (identifier) @name) @reference.value)
(initializer_list (identifier) @reference.value)
(variable_declaration . (identifier) . (identifier) @reference.value)
(variable_declaration . (identifier) . (field_expression object: (_) @receiver member: (identifier) @name) @reference.value)
(test_declaration . (identifier) @reference.value)

; --- Evident types

(parameter name: (identifier) @binding.name type: [(identifier) (field_expression) (pointer_type) (nullable_type)] @binding.type) @binding.annotation
(container_field name: (identifier) @binding.name type: [(identifier) (field_expression) (pointer_type) (nullable_type)] @binding.type) @binding.annotation
(variable_declaration . ["const" "var"] . (identifier) @binding.name . type: [(identifier) (field_expression) (pointer_type) (nullable_type)] @binding.type) @binding.annotation
(variable_declaration . ["const" "var"] . (identifier) @binding.name . (struct_initializer . [(identifier) (field_expression)] @binding.type)) @binding.constructor
((variable_declaration . ["const" "var"] . (identifier) @binding.name .
  (call_expression function: (field_expression object: [(identifier) (field_expression)] @binding.type member: (identifier) @binding.function))) @binding.constructor
  (#match? @binding.type "(^|\\.)[A-Z]\\w*$"))
((variable_declaration . ["const" "var"] . (identifier) @binding.name .
  (try_expression (call_expression function: (field_expression object: [(identifier) (field_expression)] @binding.type member: (identifier) @binding.function)))) @binding.constructor
  (#match? @binding.type "(^|\\.)[A-Z]\\w*$"))

; --- Parameters and locals that hide outer names

(parameter name: (identifier) @binding.opaque)
(variable_declaration . ["const" "var"] . (identifier) @binding.opaque)
(payload (identifier) @binding.opaque)
