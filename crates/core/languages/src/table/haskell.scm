; Haskell. The grammar handles indentation; a name that is applied to an argument is called.

(header module: (module) @package)

; --- Definitions

; A record is a structure; other data is an enumeration of its constructors.
(data_type name: (_) @name constructors: (data_constructors . (data_constructor constructor: (record)) .) @body) @definition.struct
(data_type name: (_) @name "where" @body) @definition.enum
(data_type name: (_) @name constructors: (_)? @body) @definition.enum
(newtype name: (_) @name constructor: (_) @body) @definition.struct
(type_synonym name: (_) @name) @definition.type
(type_family name: (_) @name "where"? @body) @definition.type
(data_family name: (_) @name) @definition.type
(class name: (_) @name "where"? @body) @definition.trait

(data_constructor constructor: (prefix name: (constructor) @name)) @definition.constant
(data_constructor constructor: (record name: (constructor) @name @definition.constant))
(data_constructor constructor: (infix operator: (constructor_operator) @name)) @definition.constant
(newtype_constructor name: (constructor) @name @definition.constant)
(gadt_constructor name: (constructor) @name) @definition.constant
(pattern_synonym (equation synonym: [(constructor) @name (apply function: (constructor) @name)])) @definition.constant
(field name: (field_name (variable) @name)) @definition.field

; The type of a function, then its equations: clauses of one definition.
((declarations (signature name: [(variable) @name (prefix_id (operator) @name)]) @definition.function) (#set! clause "true"))
((class_declarations (signature name: [(variable) @name (prefix_id (operator) @name)]) @definition.function) (#set! clause "true"))
(class_declarations (signature names: (binding_list [(variable) @name (prefix_id (operator) @name)])) @definition.function)
((instance_declarations (signature name: [(variable) @name (prefix_id (operator) @name)]) @definition.function) (#set! clause "true"))
((local_binds (signature name: (variable) @name type: (function)) @definition.function) (#set! clause "true"))
((local_binds (signature name: (variable) @name type: (context type: (function))) @definition.function) (#set! clause "true"))
((local_binds (signature name: (variable) @name type: (forall)) @definition.function) (#set! clause "true"))
((function name: [(variable) @name (prefix_id (operator) @name)] match: (match) @body) @definition.function (#set! clause "true"))
((function (infix operator: [(operator) @name (infix_id (variable) @name)]) match: (match) @body) @definition.function (#set! clause "true"))
((declarations (bind name: [(variable) @name (prefix_id (operator) @name)] match: (match) @body) @definition.function) (#set! clause "true"))
((class_declarations (bind name: [(variable) @name (prefix_id (operator) @name)] match: (match) @body) @definition.function) (#set! clause "true"))
((instance_declarations (bind name: [(variable) @name (prefix_id (operator) @name)] match: (match) @body) @definition.function) (#set! clause "true"))
(foreign_import signature: (signature name: (variable) @name)) @definition.function

; An instance belongs to its type, or to its class if the type has no name.
(instance patterns: (type_patterns . [(name) (qualified)] @owner)) @scope
(instance patterns: (type_patterns . (parens type: (apply constructor: (name) @owner)))) @scope
(instance patterns: (type_patterns . (parens type: (apply constructor: (apply constructor: (name) @owner))))) @scope
(instance patterns: (type_patterns . (parens type: (apply constructor: (apply constructor: (apply constructor: (name) @owner)))))) @scope
(instance name: (_) @owner) @scope
(deriving_instance patterns: (type_patterns . [(name) (qualified)] @owner)) @scope
(deriving_instance patterns: (type_patterns . (parens type: (apply constructor: (name) @owner)))) @scope
(deriving_instance patterns: (type_patterns . (parens type: (apply constructor: (apply constructor: (name) @owner))))) @scope

(lambda) @local
(lambda_case) @local

(comment) @comment
; `-- ^` documents the definition before it.
((haddock) @comment (#not-match? @comment "^(-- ?\\^|\\{- ?\\^)"))

; --- Names that the file lists as public

(exports (export variable: (variable) @export.name))
(exports (export type: (name) @export.name @not_reference))
(exports (export operator: (prefix_id [(operator) (constructor_operator)] @export.name)))
(exports (export children: (children element: [(variable) (constructor) (name)] @export.name @not_reference)))
((exports (module_export module: (module) @import.module) @import @reexport) (#set! wildcard "true"))

; --- Imports

(import "qualified") @import
((import "hiding") @import (#set! wildcard "true"))
((import !names) @import (#set! wildcard "true"))
(import) @import
(import module: (module) @import.module)
(import alias: (module) @import.alias)
((import names: (import_list (import_name [(variable) (name)] @import.name))) @_import (#not-match? @_import "\\bhiding\\b"))
((import names: (import_list (import_name operator: (prefix_id (_) @import.name)))) @_import (#not-match? @_import "\\bhiding\\b"))
((import names: (import_list (import_name children: (children element: [(variable) (constructor) (name)] @import.name)))) @_import (#not-match? @_import "\\bhiding\\b"))

; --- References

(class context: (context context: (apply constructor: (name) @reference.extend)))
(class context: (context context: (parens (apply constructor: (name) @reference.extend))))
(class context: (context context: (tuple (apply constructor: (name) @reference.extend))))
(instance name: (name) @reference.implement)
(instance name: (qualified module: (_) @receiver id: (name) @name)) @reference.implement
(deriving_instance name: (name) @reference.implement)
(deriving_instance name: (qualified module: (_) @receiver id: (name) @name)) @reference.implement
(deriving classes: (name) @reference.implement)
(deriving classes: (parens (name) @reference.implement))
(deriving classes: (tuple (name) @reference.implement))
(deriving classes: (tuple (qualified module: (_) @receiver id: (name) @name) @reference.implement))

(name) @reference.type_use
(equation name: (name) @not_reference)
(qualified module: (_) @receiver id: (name) @name) @reference.type_use
(th_quoted_name type: (name) @reference.type_use)

; Applications nest; the longest one has the number of arguments.
(apply function: (variable) @name argument: (_) @argument) @reference.call
(apply function: (apply function: (variable) @name argument: (_) @argument) argument: (_) @argument) @reference.call
(apply function: (apply function: (apply function: (variable) @name argument: (_) @argument) argument: (_) @argument) argument: (_) @argument) @reference.call
(apply function: (apply function: (apply function: (apply function: (variable) @name argument: (_) @argument) argument: (_) @argument) argument: (_) @argument) argument: (_) @argument) @reference.call
(apply function: (qualified module: (_) @receiver id: (variable) @name) argument: (_) @argument) @reference.call
(apply function: (apply function: (qualified module: (_) @receiver id: (variable) @name) argument: (_) @argument) argument: (_) @argument) @reference.call
(apply function: (apply function: (apply function: (qualified module: (_) @receiver id: (variable) @name) argument: (_) @argument) argument: (_) @argument) argument: (_) @argument) @reference.call
(infix left_operand: (_) @argument operator: (infix_id (variable) @name) right_operand: (_) @argument) @reference.call
(infix left_operand: (_) @argument operator: (infix_id (qualified module: (_) @receiver id: (variable) @name)) right_operand: (_) @argument) @reference.call
(infix left_operand: (_) @argument operator: (operator) @name right_operand: (_) @argument) @reference.call
; `f x $ y` is one more argument.
((infix left_operand: (variable) @name operator: (operator) @_apply right_operand: (_) @argument) @reference.call
  (#any-of? @_apply "$" "$!"))
((infix left_operand: (qualified module: (_) @receiver id: (variable) @name) operator: (operator) @_apply right_operand: (_) @argument) @reference.call
  (#any-of? @_apply "$" "$!"))
((infix left_operand: (apply function: (variable) @name argument: (_) @argument) operator: (operator) @_apply right_operand: (_) @argument) @reference.call
  (#any-of? @_apply "$" "$!"))
((infix left_operand: (apply function: (apply function: (variable) @name argument: (_) @argument) argument: (_) @argument) operator: (operator) @_apply right_operand: (_) @argument) @reference.call
  (#any-of? @_apply "$" "$!"))

(expression/variable) @reference.value
(qualified module: (_) @receiver id: (variable) @name) @reference.value
(expression/constructor) @reference.instantiate
(pattern/constructor) @reference.type_use
(record expression: (constructor) @reference.instantiate)
(record constructor: (constructor) @reference.type_use)
((record constructor: (qualified module: (_) @receiver id: (constructor) @name)) @reference.type_use (#set! preferred "true"))
((pattern/qualified module: (_) @receiver id: (constructor) @name) @reference.type_use (#set! preferred "true"))
(qualified module: (_) @receiver id: (constructor) @name) @reference.instantiate

; --- Evident types

(field name: (field_name (variable) @binding.name) type: [(name) (qualified)] @binding.type) @binding.annotation
(field name: (field_name (variable) @binding.name) type: (strict_field type: [(name) (qualified)] @binding.type)) @binding.annotation

; --- Parameters and locals that hide outer names

(pattern/variable) @binding.opaque
(local_binds (bind name: (variable) @binding.opaque))
; `Page {offset}` and `Page {..}` bind fields.
(field_pattern field: (field_name (variable) @binding.opaque) !pattern)
