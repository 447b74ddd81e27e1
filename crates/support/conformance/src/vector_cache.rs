//! The conformance suite of the port `VectorCache`.

use std::collections::BTreeSet;

use anyhow::Result;
use async_trait::async_trait;
use cairn_domain::{ContentHash, DenseVector, ModelId, Tenant, VectorKey};
use cairn_ports::{VectorCache, VectorCacheError};

use crate::Case;
use crate::faulty::{Faulty, planted};
use crate::suite::{Check, PlantedFault, checks, expect_eq, expect_kind};

pub fn checks() -> Vec<Check<dyn VectorCache>> {
    checks![
        vectors_come_back_in_order,
        existing_vector_stays,
        tenants_and_models_are_apart,
        wrong_dimensions_are_refused,
        sweeping_removes_dead_records,
    ]
}

fn key(model: &str, text: &str) -> VectorKey {
    VectorKey { model: ModelId { name: model.to_owned(), dimensions: 4 }, content: ContentHash::of(text) }
}

fn vector(number: i32) -> DenseVector {
    DenseVector(vec![-128, 127, (number % 100) as i8, (number / 100) as i8])
}

async fn vectors_come_back_in_order(cache: &dyn VectorCache) -> Result<()> {
    let tenant = Case::new("order").tenant;
    let keys: Vec<VectorKey> = (0..3000).map(|number| key("m", &number.to_string())).collect();
    let entries: Vec<_> = keys.iter().cloned().zip((0..3000).map(vector)).step_by(2).collect();
    cache.put(&tenant, &entries).await?;
    cache.put(&tenant, &[]).await?;
    let expected: Vec<_> = (0..3000).map(|number| (number % 2 == 0).then(|| vector(number))).collect();
    expect_eq!(cache.get(&tenant, &keys).await?, expected);
    let twice = [keys[2].clone(), keys[1].clone(), keys[0].clone(), keys[2].clone()];
    expect_eq!(cache.get(&tenant, &twice).await?, [Some(vector(2)), None, Some(vector(0)), Some(vector(2))]);
    expect_eq!(cache.get(&tenant, &[]).await?, []);
    Ok(())
}

async fn existing_vector_stays(cache: &dyn VectorCache) -> Result<()> {
    let tenant = Case::new("stay").tenant;
    cache.put(&tenant, &[(key("m", "a"), vector(1))]).await?;
    cache.put(&tenant, &[(key("m", "b"), vector(2)), (key("m", "a"), vector(3))]).await?;
    let found = cache.get(&tenant, &[key("m", "a"), key("m", "b")]).await?;
    expect_eq!(found, [Some(vector(1)), Some(vector(2))]);
    Ok(())
}

async fn tenants_and_models_are_apart(cache: &dyn VectorCache) -> Result<()> {
    let (tenant, other) = (Case::new("apart").tenant, Case::new("apart").tenant);
    cache.put(&tenant, &[(key("m", "a"), vector(1))]).await?;
    expect_eq!(cache.get(&other, &[key("m", "a")]).await?, [None]);
    expect_eq!(cache.get(&tenant, &[key("n", "a")]).await?, [None]);
    let wider = VectorKey { model: ModelId { name: "m".to_owned(), dimensions: 5 }, ..key("m", "a") };
    expect_eq!(cache.get(&tenant, &[wider]).await?, [None]);
    cache.put(&other, &[(key("m", "a"), vector(2))]).await?;
    expect_eq!(cache.get(&tenant, &[key("m", "a")]).await?, [Some(vector(1))]);
    Ok(())
}

async fn wrong_dimensions_are_refused(cache: &dyn VectorCache) -> Result<()> {
    let tenant = Case::new("dimensions").tenant;
    let entries = [(key("m", "a"), vector(1)), (key("m", "b"), DenseVector(vec![1; 3]))];
    expect_kind!(cache.put(&tenant, &entries).await, Invalid);
    expect_eq!(cache.get(&tenant, &[key("m", "b")]).await?, [None]);
    Ok(())
}

async fn sweeping_removes_dead_records(cache: &dyn VectorCache) -> Result<()> {
    let (tenant, other) = (Case::new("sweep").tenant, Case::new("sweep").tenant);
    let keys: Vec<VectorKey> = (0..100).map(|number| key("m", &number.to_string())).collect();
    let entries: Vec<_> = keys.iter().cloned().zip((0..100).map(vector)).collect();
    cache.put(&tenant, &entries).await?;
    cache.put(&other, &entries).await?;
    let live: BTreeSet<VectorKey> = keys.iter().step_by(3).cloned().collect();
    expect_eq!(cache.sweep(&tenant, &|key| live.contains(key)).await?, 66);
    expect_eq!(cache.sweep(&tenant, &|key| live.contains(key)).await?, 0);
    for (number, found) in cache.get(&tenant, &keys).await?.into_iter().enumerate() {
        expect_eq!(found.is_some(), number % 3 == 0);
    }
    expect_eq!(cache.get(&other, &keys).await?.iter().flatten().count(), 100);
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    LosesWrites,
    ReversesOrder,
    SharesTenants,
    Overwrites,
    SweepsNothing,
    SweepsTheLiving,
}

const ALL: [(&str, Fault, &str); 6] = [
    ("loses a write", Fault::LosesWrites, "vectors_come_back_in_order"),
    ("answers in the wrong order", Fault::ReversesOrder, "vectors_come_back_in_order"),
    ("shares vectors between tenants", Fault::SharesTenants, "tenants_and_models_are_apart"),
    ("overwrites", Fault::Overwrites, "existing_vector_stays"),
    ("sweeps nothing", Fault::SweepsNothing, "sweeping_removes_dead_records"),
    ("sweeps the living", Fault::SweepsTheLiving, "sweeping_removes_dead_records"),
];

pub fn faults() -> Vec<PlantedFault<dyn VectorCache>> {
    planted(ALL, |faulty| Box::new(faulty))
}

impl Faulty<dyn VectorCache, Fault> {
    fn tenant(&self, tenant: &Tenant) -> Tenant {
        if self.fault == Fault::SharesTenants { Tenant::new("shared") } else { tenant.clone() }
    }
}

#[async_trait]
impl VectorCache for Faulty<dyn VectorCache, Fault> {
    async fn get(&self, tenant: &Tenant, keys: &[VectorKey]) -> Result<Vec<Option<DenseVector>>, VectorCacheError> {
        let mut found = self.inner.get(&self.tenant(tenant), keys).await?;
        if self.fault == Fault::ReversesOrder {
            found.reverse();
        }
        Ok(found)
    }

    async fn put(&self, tenant: &Tenant, entries: &[(VectorKey, DenseVector)]) -> Result<(), VectorCacheError> {
        let kept = if self.fault == Fault::LosesWrites { entries.len().saturating_sub(1) } else { entries.len() };
        if self.fault == Fault::Overwrites {
            let is_live = |key: &VectorKey| !entries.iter().any(|(new, _)| new == key);
            self.inner.sweep(tenant, &is_live).await?;
        }
        self.inner.put(&self.tenant(tenant), &entries[..kept]).await
    }

    async fn sweep(
        &self,
        tenant: &Tenant,
        is_live: &(dyn for<'a> Fn(&'a VectorKey) -> bool + Send + Sync),
    ) -> Result<u64, VectorCacheError> {
        match self.fault {
            Fault::SweepsNothing => Ok(0),
            Fault::SweepsTheLiving => self.inner.sweep(tenant, &|key| !is_live(key)).await,
            _ => self.inner.sweep(&self.tenant(tenant), is_live).await,
        }
    }
}
