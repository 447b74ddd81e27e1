; C.
;
; A prototype is a symbol of its own, since it is the public face of a header and carries the doc comment. Its
; signature ends with `;` (property `declaration`), so linking prefers the definition elsewhere.

; --- Definitions

(function_definition (storage_class_specifier "static")? @visibility declarator: [
  (function_declarator declarator: [(identifier) @name (parenthesized_declarator (identifier) @name)])
  (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
  (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))))
  (attributed_declarator (function_declarator declarator: (identifier) @name))
  ] body: (_) @body) @definition.function

((declaration (storage_class_specifier "static")? @visibility declarator: [
  (function_declarator declarator: [(identifier) @name (parenthesized_declarator (identifier) @name)])
  (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
  (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))))
  (attributed_declarator (function_declarator declarator: (identifier) @name))
  ]) @definition.function (#set! declaration "true"))

; Types with a name in a `typedef`: the public name has the members, the tag is another name for the type.
(type_definition type: [(struct_specifier body: (_) @body) (union_specifier body: (_) @body)]
  declarator: (type_identifier) @name) @definition.struct
(type_definition type: (enum_specifier body: (_) @body) declarator: (type_identifier) @name) @definition.enum
((type_definition type: [
  (struct_specifier name: (_) @name body: (_) @body)
  (union_specifier name: (_) @name body: (_) @body)
  (enum_specifier name: (_) @name body: (_) @body)] declarator: (type_identifier) @_public) @definition.type
  (#not-eq? @name @_public))
(type_definition type: [(struct_specifier body: (_) @body) (union_specifier body: (_) @body) (enum_specifier body: (_) @body)]
  declarator: [(pointer_declarator declarator: (type_identifier) @name) (array_declarator declarator: (type_identifier) @name)]) @definition.type
(type_definition declarator: [
  (type_identifier) @name
  (pointer_declarator declarator: (type_identifier) @name)
  (pointer_declarator declarator: (pointer_declarator declarator: (type_identifier) @name))
  (array_declarator declarator: (type_identifier) @name)
  (function_declarator declarator: (type_identifier) @name)
  (function_declarator declarator: (parenthesized_declarator (type_identifier) @name))
  (pointer_declarator declarator: (function_declarator declarator: (type_identifier) @name))
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))
  (pointer_declarator declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name))))
  ]) @definition.type

(struct_specifier name: (_) @name body: (_) @body) @definition.struct
(union_specifier name: (_) @name body: (_) @body) @definition.struct
(enum_specifier name: (_) @name body: (_) @body) @definition.enum
(enumerator name: (_) @name) @definition.constant

(field_declaration declarator: [
  (field_identifier) @name
  (pointer_declarator declarator: (field_identifier) @name)
  (pointer_declarator declarator: (pointer_declarator declarator: (field_identifier) @name))
  (array_declarator declarator: (field_identifier) @name)
  (array_declarator declarator: (array_declarator declarator: (field_identifier) @name))
  (pointer_declarator declarator: (array_declarator declarator: (field_identifier) @name))
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (field_identifier) @name)))
  (pointer_declarator declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (field_identifier) @name))))
  ]) @definition.field

; Variables at the top; variables of functions are left out. `int a;` beside the body of a type is a variable.
((declaration (storage_class_specifier "extern") declarator: [
  (identifier) @name
  (pointer_declarator declarator: (identifier) @name)
  (array_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))
  (array_declarator declarator: (array_declarator declarator: (identifier) @name))
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @name)))
  ]) @definition.variable (#set! declaration "true"))
(declaration (storage_class_specifier "static")? @visibility
  type: [(primitive_type) (type_identifier) (sized_type_specifier) (macro_type_specifier)
    (struct_specifier !body) (union_specifier !body) (enum_specifier !body)] declarator: [
  (identifier) @name
  (pointer_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @name))
  (array_declarator declarator: (identifier) @name)
  (array_declarator declarator: (array_declarator declarator: (identifier) @name))
  (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @name)))
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))))
  (init_declarator declarator: (identifier) @name value: (initializer_list)? @body)
  (init_declarator declarator: (pointer_declarator declarator: (identifier) @name))
  (init_declarator declarator: (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @name)))
  (init_declarator declarator: (array_declarator declarator: (identifier) @name) value: (initializer_list)? @body)
  (init_declarator declarator: (array_declarator declarator: (array_declarator declarator: (identifier) @name)) value: (initializer_list)? @body)
  (init_declarator declarator: (pointer_declarator declarator: (array_declarator declarator: (identifier) @name)) value: (initializer_list)? @body)
  (init_declarator declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @name))))
  (init_declarator declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (array_declarator declarator: (identifier) @name)))) value: (initializer_list)? @body)
  ]) @definition.variable
; A body without a name belongs to the variable; a body with a name is a type of its own.
(declaration (storage_class_specifier "static")? @visibility
  type: [(struct_specifier !name body: (_) @body) (union_specifier !name body: (_) @body)] declarator: [
  (identifier) @name
  (pointer_declarator declarator: (identifier) @name)
  (array_declarator declarator: (identifier) @name)
  (init_declarator declarator: (identifier) @name)
  (init_declarator declarator: (array_declarator declarator: (identifier) @name))
  ]) @definition.variable
(declaration (storage_class_specifier "static")? @visibility
  type: [(struct_specifier name: (_) body: (_)) (union_specifier name: (_) body: (_)) (enum_specifier body: (_))] declarator: [
  (identifier) @name
  (pointer_declarator declarator: (identifier) @name)
  (array_declarator declarator: (identifier) @name)
  (init_declarator declarator: (identifier) @name value: (initializer_list)? @body)
  (init_declarator declarator: (array_declarator declarator: (identifier) @name) value: (initializer_list)? @body)
  ] @definition.variable)

; An empty macro is a switch or the guard of a header.
(preproc_def name: (_) @name value: (_)) @definition.constant
(preproc_function_def name: (_) @name) @definition.macro

(comment) @comment
(attribute_specifier) @decorator
(attribute_declaration (attribute) @decorator)

; --- Imports

((preproc_include path: [(string_literal) (system_lib_string)] @import.module) @import (#set! wildcard "true"))

; --- References

(call_expression function: (identifier) @name arguments: (_) @arguments) @reference.call
(call_expression function: (field_expression argument: (_) @receiver field: (_) @name) arguments: (_) @arguments) @reference.call
(call_expression function: (parenthesized_expression (pointer_expression argument: (identifier) @name)) arguments: (_) @arguments) @reference.call
(call_expression function: (parenthesized_expression (pointer_expression argument: (field_expression argument: (_) @receiver field: (_) @name)))
  arguments: (_) @arguments) @reference.call
(call_expression function: (parenthesized_expression (field_expression argument: (_) @receiver field: (_) @name)) arguments: (_) @arguments) @reference.call

(compound_literal_expression type: (type_descriptor type: [
  (type_identifier) @reference.instantiate
  (struct_specifier name: (_) @reference.instantiate)
  (union_specifier name: (_) @reference.instantiate)]))

(type_identifier) @reference.type_use
; `struct foo;` only declares the type.
(translation_unit (struct_specifier name: (_) @not_reference !body))
(preproc_ifdef (struct_specifier name: (_) @not_reference !body))
(preproc_if (struct_specifier name: (_) @not_reference !body))
(declaration_list (struct_specifier name: (_) @not_reference !body))

(attribute name: (identifier) @reference.decorate)
(attribute_specifier (argument_list (identifier) @reference.decorate))
(attribute_specifier (argument_list (call_expression function: (identifier) @reference.decorate)))

(argument_list (identifier) @reference.value)
(argument_list (pointer_expression argument: (identifier) @reference.value))
(initializer_list (identifier) @reference.value)
(initializer_list (pointer_expression argument: (identifier) @reference.value))
(initializer_pair value: (identifier) @reference.value)
(initializer_pair value: (pointer_expression argument: (identifier) @reference.value))
(init_declarator value: (identifier) @reference.value)
(assignment_expression right: (identifier) @reference.value)
(return_statement (identifier) @reference.value)
(cast_expression value: (identifier) @reference.value)
(conditional_expression consequence: (identifier) @reference.value)
(conditional_expression alternative: (identifier) @reference.value)

; --- Evident types

(parameter_declaration type: [(type_identifier) (struct_specifier) (union_specifier) (enum_specifier)] @binding.type declarator: [
  (identifier) @binding.name
  (pointer_declarator declarator: (identifier) @binding.name)
  (array_declarator declarator: (identifier) @binding.name)
  (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @binding.name))
  ]) @binding.annotation
(declaration type: [(type_identifier) (struct_specifier !body) (union_specifier !body) (enum_specifier !body)] @binding.type declarator: [
  (identifier) @binding.name
  (pointer_declarator declarator: (identifier) @binding.name)
  (array_declarator declarator: (identifier) @binding.name)
  (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @binding.name))
  (pointer_declarator declarator: (array_declarator declarator: (identifier) @binding.name))
  (init_declarator declarator: (identifier) @binding.name)
  (init_declarator declarator: (pointer_declarator declarator: (identifier) @binding.name))
  (init_declarator declarator: (array_declarator declarator: (identifier) @binding.name))
  (init_declarator declarator: (pointer_declarator declarator: (array_declarator declarator: (identifier) @binding.name)))
  ]) @binding.annotation
(field_declaration type: [(type_identifier) (struct_specifier !body) (union_specifier !body) (enum_specifier !body)] @binding.type declarator: [
  (field_identifier) @binding.name
  (pointer_declarator declarator: (field_identifier) @binding.name)
  (array_declarator declarator: (field_identifier) @binding.name)
  (pointer_declarator declarator: (pointer_declarator declarator: (field_identifier) @binding.name))
  (pointer_declarator declarator: (array_declarator declarator: (field_identifier) @binding.name))
  ]) @binding.annotation

; --- Parameters and locals that hide outer names

(parameter_declaration declarator: (identifier) @binding.opaque)
(parameter_list (identifier) @binding.opaque)
(declaration declarator: (identifier) @binding.opaque)
(init_declarator declarator: (identifier) @binding.opaque)
(pointer_declarator declarator: (identifier) @binding.opaque)
(array_declarator declarator: (identifier) @binding.opaque)
