//! Values for specialization constants as users write them: a name or a number, and a text.

use crate::diagnostic::{Code, Diagnostic, nearest};
use crate::ir::constant::sign_extend;
use crate::ir::fold::{f64_to_f16, fix};
use crate::ir::{ConstValue, Module, Scalar, ScalarKind};

/// The values given to specialization constants; the others keep their defaults.
#[derive(Clone, Debug, Default)]
pub struct Specializations {
    settings: Vec<(Box<str>, Box<str>)>,
    bits: Vec<(u32, u64)>,
}

impl Specializations {
    pub fn new() -> Specializations {
        Specializations::default()
    }

    /// Sets the constant with a name or a `constant_id` to a value: `true`, `-3`, `0x1f`, `1.5`. The last setting of a
    /// constant counts.
    pub fn set(&mut self, name: &str, value: &str) {
        self.settings.push((name.into(), value.into()));
    }

    /// Sets the constant with a `constant_id` to these bits, like a pipeline. A number without a constant is ignored.
    pub fn set_bits(&mut self, id: u32, bits: u64) {
        self.bits.push((id, bits));
    }

    /// Bits by `constant_id`.
    ///
    /// # Errors
    /// Returns one diagnostic for each setting of a missing constant, and for each value that a constant's type lacks.
    pub fn resolve(&self, module: &Module) -> Result<Vec<(u32, u64)>, Vec<Diagnostic>> {
        let known = declared(module);
        let (mut given, mut errors) = (self.bits.clone(), Vec::new());
        for (name, value) in &self.settings {
            match resolve(module, &known, name, value) {
                Ok(setting) => given.push(setting),
                Err(error) => errors.push(*error),
            }
        }
        if errors.is_empty() { Ok(given) } else { Err(errors) }
    }

    /// Applies the values to the module itself, for every target.
    ///
    /// # Errors
    /// Like [`Specializations::resolve`], and when a constant computed from these is not defined.
    pub fn fix(&self, module: &mut Module) -> Result<(), Vec<Diagnostic>> {
        if self.settings.is_empty() && self.bits.is_empty() {
            return Ok(());
        }
        let given = self.resolve(module)?;
        let bits = |id: u32| given.iter().rev().find(|(known, _)| *known == id).map(|(_, bits)| *bits);
        fix(&mut module.types, &mut module.constants, |number, _| bits(number)).map_err(|_| {
            let message = "a specialization constant is not defined with the values that are set";
            vec![Diagnostic::error(Code::BAD_SETTING, message)]
        })?;
        module.spec_names.retain(|(id, _)| bits(*id).is_none());
        Ok(())
    }
}

/// The specialization constants of a module by their numbers.
fn declared(module: &Module) -> Vec<(u32, Scalar)> {
    let scalar = |ty| module.types.scalar_of(ty);
    let found = module.constants.iter().filter_map(|(_, constant)| match constant.value {
        ConstValue::Spec { id, .. } => Some((id, scalar(constant.ty)?)),
        _ => None,
    });
    found.collect()
}

fn resolve(module: &Module, known: &[(u32, Scalar)], name: &str, value: &str) -> Result<(u32, u64), Box<Diagnostic>> {
    let named = module.spec_names.iter().find(|(_, known)| &**known == name).map(|(id, _)| *id);
    let id = named.or_else(|| name.parse().ok());
    let Some((id, scalar)) = id.and_then(|id| known.iter().find(|known| known.0 == id)) else {
        return Err(Box::new(unknown(module, name)));
    };
    let bits = parse(*scalar, value).ok_or_else(|| {
        let message =
            format!("`{value}` is not a value of the specialization constant `{name}`, which is {}", kind(*scalar));
        Diagnostic::error(Code::BAD_SETTING, message)
    });
    Ok((*id, bits?))
}

fn unknown(module: &Module, name: &str) -> Diagnostic {
    let error = Diagnostic::error(Code::BAD_SETTING, format!("unknown specialization constant `{name}`"));
    let names = module.spec_names.iter().map(|(_, name)| &**name);
    match nearest::nearest(name, names) {
        Some(near) => error.note(format!("there is one named `{near}`")),
        None => error,
    }
}

fn kind(scalar: Scalar) -> String {
    match scalar.kind {
        ScalarKind::Bool => "a bool".to_owned(),
        ScalarKind::Sint => format!("a signed integer of {} bits", scalar.width),
        ScalarKind::Uint => format!("an unsigned integer of {} bits", scalar.width),
        ScalarKind::Float | ScalarKind::Encoded(_) => format!("a float of {} bits", scalar.width),
    }
}

/// The bits of a value written as text; `None` if it is not a value of this type.
fn parse(scalar: Scalar, text: &str) -> Option<u64> {
    match scalar.kind {
        ScalarKind::Bool => match text {
            "true" | "1" => Some(1),
            "false" | "0" => Some(0),
            _ => None,
        },
        ScalarKind::Float => text.parse().ok().map(|value: f64| match scalar.width {
            16 => u64::from(f64_to_f16(value)),
            32 => u64::from((value as f32).to_bits()),
            _ => value.to_bits(),
        }),
        ScalarKind::Encoded(encoding) => text.parse().ok().map(|value: f64| encoding.format().encode(value)),
        ScalarKind::Sint | ScalarKind::Uint => parse_integer(scalar, text),
    }
}

fn parse_integer(scalar: Scalar, text: &str) -> Option<u64> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let magnitude = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    let value = if negative { -i128::from(magnitude) } else { i128::from(magnitude) };
    let bits = value as u64 & (u64::MAX >> (64 - u32::from(scalar.width)));
    let kept = if scalar.is_signed() { i128::from(sign_extend(bits, scalar)) } else { i128::from(bits) };
    (kept == value).then_some(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_fit_their_types() {
        assert_eq!(parse(Scalar::I32, "-3"), Some(0xffff_fffd));
        assert_eq!(parse(Scalar::U32, "0x1F"), Some(31));
        assert_eq!(parse(Scalar::BOOL, "true"), Some(1));
        assert_eq!(parse(Scalar::F32, "1.5"), Some(0x3fc0_0000));
        assert_eq!(parse(Scalar::F64, "-2"), Some((-2f64).to_bits()));
    }

    #[test]
    fn values_of_other_types_are_refused() {
        assert_eq!(parse(Scalar::U32, "-1"), None);
        assert_eq!(parse(Scalar::I32, "2147483648"), None);
        assert_eq!(parse(Scalar::I32, "1.5"), None);
        assert_eq!(parse(Scalar::BOOL, "2"), None);
        assert_eq!(parse(Scalar::F32, "one"), None);
    }
}
