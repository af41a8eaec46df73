"""Says for each language which syntax nodes are definitions, calls and imports, as queries of tree-sitter."""

from __future__ import annotations

from repertoire import syntax

_SCRIPT = """
(function_declaration) @function
(generator_function_declaration) @function
(method_definition) @function
(variable_declarator value: [(arrow_function) (function_expression)]) @function
(class_declaration) @class
(call_expression function: (_) @call)
(new_expression constructor: (_) @call)
(import_statement) @import
(export_statement source: (_)) @import
(decorator [(identifier) (member_expression)] @call)
(variable_declarator value: (call_expression function: (identifier) @require)) @required
"""
# a component is called by the element that names it; a name in small letters is HTML's
_ELEMENTS = """
((jsx_opening_element name: (identifier) @call) (#match? @call "^[A-Z]"))
((jsx_self_closing_element name: (identifier) @call) (#match? @call "^[A-Z]"))
(jsx_opening_element name: (member_expression) @call)
(jsx_self_closing_element name: (member_expression) @call)
"""
_TYPED = """
(public_field_definition value: (arrow_function)) @function
(abstract_class_declaration) @class
(interface_declaration) @type
(type_alias_declaration) @type
(enum_declaration) @type
(abstract_method_signature) @function
(function_signature) @function
"""
QUERIES = {
    syntax.PYTHON: """
(function_definition) @function
(class_definition) @class
(call function: (_) @call)
(decorator [(identifier) (attribute)] @call)
(import_statement) @import
(import_from_statement) @import
(assignment) @assigned
(typed_parameter) @typed
(typed_default_parameter) @typed
""",
    syntax.JAVASCRIPT: f"{_SCRIPT}{_ELEMENTS}(field_definition value: (arrow_function)) @function",
    syntax.TYPESCRIPT: _SCRIPT + _TYPED,
    syntax.TSX: _SCRIPT + _ELEMENTS + _TYPED,
    syntax.GO: """
(function_declaration) @function
(method_declaration) @function
(type_spec) @type
(type_alias) @type
(call_expression function: (_) @call)
(import_spec) @import
""",
    syntax.RUST: """
(function_item) @function
(function_signature_item) @function
(macro_definition) @function
(struct_item) @class
(enum_item) @class
(union_item) @class
(trait_item) @type
(type_item) @type
(impl_item) @block
(mod_item body: (_)) @block
(call_expression function: (_) @call)
(use_declaration) @import
""",
    syntax.JAVA: """
(method_declaration) @function
(constructor_declaration) @function
(class_declaration) @class
(record_declaration) @class
(enum_declaration) @class
(interface_declaration) @type
(annotation_type_declaration) @type
(method_invocation) @call
(object_creation_expression type: (_) @call)
(import_declaration) @import
""",
}
