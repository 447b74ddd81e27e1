; Swift. The grammar also uses the field `name` for types, and one node for all kinds of types and for
; extensions.

; --- Definitions

(class_declaration (modifiers (visibility_modifier) @visibility)? declaration_kind: "class" name: (type_identifier) @name body: (_) @body) @definition.class
(class_declaration (modifiers (visibility_modifier) @visibility)? declaration_kind: "actor" name: (type_identifier) @name body: (_) @body) @definition.class
(class_declaration (modifiers (visibility_modifier) @visibility)? declaration_kind: "struct" name: (type_identifier) @name body: (_) @body) @definition.struct
(class_declaration (modifiers (visibility_modifier) @visibility)? declaration_kind: "enum" name: (type_identifier) @name body: (_) @body) @definition.enum
; Requirements of a protocol and cases of an enum have the visibility of the type.
((protocol_declaration (modifiers (visibility_modifier) @visibility) name: (type_identifier) @name body: (_) @body) @definition.interface
  (#eq? @visibility "public") (#set! members "public"))
(protocol_declaration (modifiers (visibility_modifier) @visibility)? name: (type_identifier) @name body: (_) @body) @definition.interface
((class_declaration (modifiers (visibility_modifier) @_visibility) body: (enum_class_body (enum_entry name: (simple_identifier) @name) @definition.constant))
  (#eq? @_visibility "public") (#set! visibility "public"))
((enum_entry name: (simple_identifier) @name) @definition.constant (#set! signature "case"))

; An extension is a scope of the extended type, and states the visibility of its members.
((class_declaration (modifiers (visibility_modifier) @_visibility) declaration_kind: "extension" name: (_) @owner) @scope
  (#eq? @_visibility "public") (#set! members "public"))
((class_declaration (modifiers (visibility_modifier) @_visibility) declaration_kind: "extension" name: (_) @owner) @scope
  (#any-of? @_visibility "private" "fileprivate") (#set! members "private"))
(class_declaration declaration_kind: "extension" name: (_) @owner) @scope

(function_declaration (modifiers (visibility_modifier) @visibility)? "func" . name: _ @name body: (_) @body) @definition.function
(protocol_function_declaration (modifiers (visibility_modifier) @visibility)? "func" . name: _ @name body: (_)? @body) @definition.method
(init_declaration (modifiers (visibility_modifier) @visibility)? name: "init" @name body: (_)? @body) @definition.method
(deinit_declaration "deinit" @name body: (_) @body) @definition.method
(subscript_declaration (modifiers (visibility_modifier) @visibility)? "subscript" @name (computed_property) @body) @definition.method
(macro_declaration (modifiers (visibility_modifier) @visibility)? "macro" . (simple_identifier) @name) @definition.macro
(lambda_literal) @local

; `private(set)` does not restrict reading.
(property_declaration (modifiers (property_modifier)) (value_binding_pattern "let") name: (pattern bound_identifier: (_) @name)) @definition.constant
(source_file (property_declaration (value_binding_pattern "let") name: (pattern bound_identifier: (_) @name)) @definition.constant)
((property_declaration (modifiers (visibility_modifier) @visibility) name: (pattern bound_identifier: (_) @name)) @definition.variable
  (#any-of? @visibility "public" "open" "package" "internal" "fileprivate" "private"))
(property_declaration name: (pattern bound_identifier: (_) @name) computed_value: (_) @body) @definition.variable
(property_declaration name: (pattern bound_identifier: (_) @name) (willset_didset_block) @body) @definition.variable
(property_declaration name: (pattern bound_identifier: (_) @name) value: (lambda_literal) @body) @definition.variable
(property_declaration name: (pattern bound_identifier: (_) @name) value: (call_expression . (lambda_literal) @body)) @definition.variable
(property_declaration name: (pattern bound_identifier: (_) @name)) @definition.variable
(protocol_property_declaration name: (pattern bound_identifier: (_) @name)) @definition.field
(typealias_declaration (modifiers (visibility_modifier) @visibility)? "typealias" . name: (type_identifier) @name) @definition.type
(associatedtype_declaration "associatedtype" . name: (type_identifier) @name) @definition.type

(type_parameter . (type_identifier) @type_parameter)

(comment) @comment
(multiline_comment) @comment
(modifiers (attribute) @decorator)

; --- Imports

((import_declaration (identifier) @import.module @import.wildcard) @import
  (#not-match? @import "import[ ]+(class|enum|func|let|protocol|struct|typealias|var)[ ]"))
(import_declaration ["class" "enum" "func" "let" "protocol" "struct" "typealias" "var"] (identifier) @import.path) @import
(import_declaration (modifiers (attribute (user_type) @_exported)) @reexport (#eq? @_exported "_exported"))

; --- References

(call_expression . (simple_identifier) @name (call_suffix (value_arguments "(") @arguments)) @reference.call
(call_expression . (simple_identifier) @name (call_suffix (lambda_literal) @argument)) @reference.call
(call_expression . (simple_identifier) @name (call_suffix (value_arguments "(") @arguments (lambda_literal) @argument)) @reference.call
(call_expression . (navigation_expression target: (_) @receiver suffix: (navigation_suffix suffix: (simple_identifier) @name))
  (call_suffix (value_arguments "(") @arguments)) @reference.call
(call_expression . (navigation_expression target: (_) @receiver suffix: (navigation_suffix suffix: (simple_identifier) @name))
  (call_suffix (lambda_literal) @argument)) @reference.call
(call_expression . (navigation_expression target: (_) @receiver suffix: (navigation_suffix suffix: (simple_identifier) @name))
  (call_suffix (value_arguments "(") @arguments (lambda_literal) @argument)) @reference.call
(call_expression . (simple_identifier) @name (call_suffix (value_arguments "(") @arguments (lambda_literal) @argument name: (_) (lambda_literal) @argument)) @reference.call
(call_expression . (navigation_expression target: (_) @receiver suffix: (navigation_suffix suffix: (simple_identifier) @name))
  (call_suffix (value_arguments "(") @arguments (lambda_literal) @argument name: (_) (lambda_literal) @argument)) @reference.call
(call_expression . (simple_identifier) @name (call_suffix (lambda_literal) @argument name: (_) (lambda_literal) @argument)) @reference.call
(constructor_expression constructed_type: (user_type) @path (constructor_suffix (value_arguments) @arguments)) @reference.instantiate
(constructor_expression constructed_type: (user_type) @path (constructor_suffix (lambda_literal) @argument)) @reference.instantiate
(macro_invocation (simple_identifier) @name) @reference.call

; Only a class can precede the protocols of a class.
(class_declaration declaration_kind: "class" (inheritance_specifier (user_type) @path)) @reference.implement
(class_declaration declaration_kind: "class" name: (_) . (inheritance_specifier (user_type) @path)) @reference.extend
(class_declaration declaration_kind: "class" name: (_) . (type_parameters) . (inheritance_specifier (user_type) @path)) @reference.extend
(class_declaration declaration_kind: ["actor" "struct" "extension"] (inheritance_specifier (user_type) @path)) @reference.implement
; The type of the raw values is no protocol.
((class_declaration declaration_kind: "enum" (inheritance_specifier (user_type) @path)) @reference.implement
  (#not-any-of? @path "Character" "Double" "Float" "Int" "Int16" "Int32" "Int64" "Int8" "String" "UInt" "UInt16" "UInt32" "UInt64" "UInt8"))
(protocol_declaration (inheritance_specifier (user_type) @path)) @reference.extend

(attribute (user_type) @path) @reference.decorate
(user_type) @path @reference.type_use
; Types whose members are used.
((navigation_expression target: (simple_identifier) @reference.type_use) (#set! capitalized "true"))

(value_argument value: (simple_identifier) @reference.value)
(value_argument value: (navigation_expression target: (_) @receiver suffix: (navigation_suffix suffix: (simple_identifier) @name)) @reference.value)
(assignment result: (simple_identifier) @reference.value)
(property_declaration value: (simple_identifier) @reference.value)
(control_transfer_statement result: (simple_identifier) @reference.value)
(array_literal element: (simple_identifier) @reference.value)
(dictionary_literal value: (simple_identifier) @reference.value)
(selector_expression (simple_identifier) @reference.value)
((selector_expression (call_expression . (simple_identifier) @reference.value)) (#set! preferred "true"))
((selector_expression (call_expression . (navigation_expression target: (_) @receiver suffix: (navigation_suffix suffix: (simple_identifier) @name))))
  @reference.value (#set! preferred "true"))
(selector_expression (navigation_expression target: (_) @receiver suffix: (navigation_suffix suffix: (simple_identifier) @name)) @reference.value)

; --- Evident types

(parameter name: (simple_identifier) @binding.name [(user_type) (optional_type) (existential_type) (opaque_type)] @binding.type) @binding.annotation
(lambda_parameter name: (simple_identifier) @binding.name [(user_type) (optional_type) (existential_type) (opaque_type)] @binding.type) @binding.annotation
(property_declaration name: (pattern bound_identifier: (_) @binding.name) . (type_annotation [(user_type) (optional_type) (existential_type) (opaque_type)] @binding.type)) @binding.annotation
(protocol_property_declaration name: (pattern bound_identifier: (_) @binding.name) . (type_annotation [(user_type) (optional_type) (existential_type) (opaque_type)] @binding.type)) @binding.annotation
(catch_block error: (pattern (pattern bound_identifier: (_) @binding.name) name: (user_type) @binding.type)) @binding.annotation
(property_declaration name: (pattern bound_identifier: (_) @binding.name) . value: (as_expression (user_type) @binding.type)) @binding.annotation
(if_statement bound_identifier: (_) @binding.name . condition: (as_expression (user_type) @binding.type)) @binding.annotation
(guard_statement bound_identifier: (_) @binding.name . condition: (as_expression (user_type) @binding.type)) @binding.annotation
(property_declaration name: (pattern bound_identifier: (_) @binding.name)
  . value: (call_expression . [(simple_identifier) (navigation_expression)] @binding.type (call_suffix (value_arguments "(")))) @binding.constructor
(property_declaration name: (pattern bound_identifier: (_) @binding.name) . value: (constructor_expression constructed_type: (user_type) @binding.type)) @binding.constructor
(assignment target: (directly_assignable_expression [(simple_identifier) (navigation_expression)] @binding.name)
  result: (call_expression . [(simple_identifier) (navigation_expression)] @binding.type (call_suffix (value_arguments "(")))) @binding.constructor
(assignment target: (directly_assignable_expression [(simple_identifier) (navigation_expression)] @binding.name)
  result: (constructor_expression constructed_type: (user_type) @binding.type)) @binding.constructor
(assignment target: (directly_assignable_expression (navigation_expression) @binding.name) result: (simple_identifier) @binding.source) @binding.annotation

; --- Parameters and locals that hide outer names

(parameter name: (simple_identifier) @binding.opaque)
(lambda_parameter name: (simple_identifier) @binding.opaque)
(capture_list_item name: (simple_identifier) @binding.opaque)
(pattern bound_identifier: (simple_identifier) @binding.opaque)
(if_statement bound_identifier: (simple_identifier) @binding.opaque)
(guard_statement bound_identifier: (simple_identifier) @binding.opaque)
(while_statement bound_identifier: (simple_identifier) @binding.opaque)
