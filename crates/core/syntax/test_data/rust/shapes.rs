#![allow(dead_code)]

pub(in crate::geometry) mod area;

pub trait Shape {
    const SIDES: u32;
    fn area(&self) -> f64;
    fn scaled(self, factor: f64) -> Self
    where
        Self: Sized;
}

pub trait Solid: Shape {}

#[derive(Default)]
pub struct Square {
    pub side: f64,
}

pub struct Circle(pub f64);

impl Shape for Square {
    const SIDES: u32 = 4;

    fn area(&self) -> f64 {
        self.side * self.side
    }

    fn scaled(self, factor: f64) -> Self {
        Square { side: self.side * factor }
    }
}

impl Shape for crate::curves::Ellipse {
    const SIDES: u32 = 0;

    fn area(&self) -> f64 {
        std::f64::consts::PI * self.a * self.b
    }

    fn scaled(self, factor: f64) -> Self {
        Self::new(self.a * factor, self.b * factor)
    }
}

pub fn total<'s, I>(shapes: I) -> f64
where
    I: IntoIterator<Item = &'s dyn Shape>,
{
    shapes.into_iter().map(Shape::area).sum()
}

pub async fn load(path: &Path) -> Result<Vec<Box<dyn Shape>>, LoadError> {
    let text = tokio::fs::read_to_string(path).await.map_err(LoadError::Io)?;
    let square = Square { side: 2.0 };
    let circle = Circle(square.area());
    let boxed: Box<Circle> = Box::new(circle);
    Ok(text.lines().filter_map(parse_line).collect())
}

fn parse_line(line: &str) -> Option<Box<dyn Shape>> {
    let side = line.strip_prefix("square ")?.parse().ok()?;
    Some(Box::new(Square { side }))
}
