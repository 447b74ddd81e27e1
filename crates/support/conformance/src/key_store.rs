//! The conformance suite of the port `KeyStore`.

use anyhow::{Context, Result};
use async_trait::async_trait;
use cairn_domain::{Digest, Digester, Tenant};
use cairn_ports::{ApiKeyRecord, KeyStore, KeyStoreError};
use futures::future::join_all;

use crate::Case;
use crate::faulty::{Faulty, planted};
use crate::suite::{Check, PlantedFault, checks, expect_eq, expect_kind};

pub fn checks() -> Vec<Check<dyn KeyStore>> {
    checks![
        key_is_read_as_created,
        key_is_created_once,
        keys_are_listed_by_tenant,
        a_revoked_key_stays_revoked,
        newest_use_is_kept,
    ]
}

fn key(tenant: &Tenant, name: &str) -> ApiKeyRecord {
    ApiKeyRecord {
        id: format!("cairn_{}-{name}", tenant.as_str()),
        hash: Digester::new("test key").text(tenant.as_str()).text(name).digest(),
        tenant: tenant.clone(),
        repositories: Some(vec!["host/team/*".to_owned(), "host/näme".to_owned()]),
        may_index: true,
        label: "for \"tests\" — 'all' of them\n".to_owned(),
        created_at_ms: 1_700_000_000_123,
        expires_at_ms: Some(i64::MAX / 4),
        revoked_at_ms: None,
        last_used_at_ms: None,
    }
}

async fn found(store: &dyn KeyStore, key: &ApiKeyRecord) -> Result<ApiKeyRecord> {
    store.find(&key.hash).await?.context("the key is not found")
}

async fn key_is_read_as_created(store: &dyn KeyStore) -> Result<()> {
    let tenant = Case::new("made").tenant;
    let narrow = key(&tenant, "narrow");
    let nothing = ApiKeyRecord { repositories: Some(Vec::new()), expires_at_ms: None, ..key(&tenant, "nothing") };
    let all = ApiKeyRecord { repositories: None, may_index: false, label: String::new(), ..key(&tenant, "all") };
    for key in [&narrow, &nothing, &all] {
        expect_eq!(store.find(&key.hash).await?, None);
        store.create(key.clone()).await?;
    }
    for key in [&narrow, &nothing, &all] {
        expect_eq!(found(store, key).await?, *key);
    }
    expect_eq!(store.find(&Digest([0; 32])).await?, None);
    Ok(())
}

async fn key_is_created_once(store: &dyn KeyStore) -> Result<()> {
    let tenant = Case::new("once").tenant;
    let first = key(&tenant, "first");
    store.create(first.clone()).await?;
    let other_hash = ApiKeyRecord { hash: Digest([3; 32]), tenant: Tenant::new("thief"), ..first.clone() };
    expect_kind!(store.create(other_hash.clone()).await, AlreadyExists);
    let other_id = ApiKeyRecord { hash: first.hash, repositories: None, ..key(&tenant, "second") };
    expect_kind!(store.create(other_id).await, AlreadyExists);
    expect_eq!(found(store, &first).await?, first);
    expect_eq!(store.list(Some(&tenant)).await?, [first]);
    let racing = (0..8).map(|racer| store.create(ApiKeyRecord { label: racer.to_string(), ..key(&tenant, "race") }));
    let made = join_all(racing).await.into_iter().filter(Result::is_ok).count();
    expect_eq!(made, 1);
    Ok(())
}

async fn keys_are_listed_by_tenant(store: &dyn KeyStore) -> Result<()> {
    let (tenant, other) = (Case::new("list").tenant, Case::new("list").tenant);
    let mut keys: Vec<ApiKeyRecord> = ["c", "a", "b"].iter().map(|name| key(&tenant, name)).collect();
    for key in &keys {
        store.create(key.clone()).await?;
    }
    store.create(key(&other, "a")).await?;
    keys.sort_by(|left, right| left.id.cmp(&right.id));
    expect_eq!(store.list(Some(&tenant)).await?, keys);
    expect_eq!(store.list(Some(&other)).await?, [key(&other, "a")]);
    let all = store.list(None).await?;
    anyhow::ensure!(all.is_sorted_by(|left, right| left.id < right.id), "the list is not in the order of ids");
    expect_eq!(all.iter().filter(|key| key.tenant == tenant || key.tenant == other).count(), 4);
    Ok(())
}

async fn a_revoked_key_stays_revoked(store: &dyn KeyStore) -> Result<()> {
    let tenant = Case::new("revoke").tenant;
    let (gone, kept) = (key(&tenant, "gone"), key(&tenant, "kept"));
    store.create(gone.clone()).await?;
    store.create(kept.clone()).await?;
    store.revoke(&gone.id, 2_000).await?;
    expect_eq!(found(store, &gone).await?.revoked_at_ms, Some(2_000));
    // A planned revocation (rotation with overlap) can be moved to an earlier time, never to a later time.
    store.revoke(&gone.id, 3_000).await?;
    expect_eq!(found(store, &gone).await?.revoked_at_ms, Some(2_000));
    store.revoke(&gone.id, 1_000).await?;
    expect_eq!(found(store, &gone).await?, ApiKeyRecord { revoked_at_ms: Some(1_000), ..gone.clone() });
    expect_eq!(found(store, &kept).await?, kept);
    expect_eq!(store.list(Some(&tenant)).await?.len(), 2);
    expect_kind!(store.revoke("cairn_nobody", 1_000).await, NotFound);
    // The hash of a revoked key cannot be used for a new key.
    expect_kind!(store.create(gone).await, AlreadyExists);
    Ok(())
}

async fn newest_use_is_kept(store: &dyn KeyStore) -> Result<()> {
    let tenant = Case::new("touch").tenant;
    let (used, idle) = (key(&tenant, "used"), key(&tenant, "idle"));
    store.create(used.clone()).await?;
    store.create(idle.clone()).await?;
    store.touch(&used.id, 5_000).await?;
    store.touch(&used.id, 4_000).await?;
    expect_eq!(found(store, &used).await?, ApiKeyRecord { last_used_at_ms: Some(5_000), ..used.clone() });
    store.revoke(&used.id, 6_000).await?;
    store.touch(&used.id, 7_000).await?;
    let expected = ApiKeyRecord { last_used_at_ms: Some(7_000), revoked_at_ms: Some(6_000), ..used.clone() };
    expect_eq!(found(store, &used).await?, expected);
    expect_eq!(found(store, &idle).await?, idle);
    store.touch("cairn_nobody", 1).await?;
    expect_eq!(store.list(Some(&tenant)).await?.len(), 2);
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    LosesKeys,
    TakesADuplicate,
    ForgetsTheScope,
    ListsAllTenants,
    RevokesNothing,
    ProlongsARevokedKey,
    HidesRevokedKeys,
    TouchesBackwards,
    TouchNeedsTheKey,
}

const ALL: [(&str, Fault, &str); 9] = [
    ("loses keys", Fault::LosesKeys, "key_is_read_as_created"),
    ("treats a duplicate as success", Fault::TakesADuplicate, "key_is_created_once"),
    ("does not store the scope of a key", Fault::ForgetsTheScope, "key_is_read_as_created"),
    ("lists the keys of all tenants", Fault::ListsAllTenants, "keys_are_listed_by_tenant"),
    ("revokes nothing", Fault::RevokesNothing, "a_revoked_key_stays_revoked"),
    ("prolongs a revoked key", Fault::ProlongsARevokedKey, "a_revoked_key_stays_revoked"),
    ("does not list revoked keys", Fault::HidesRevokedKeys, "a_revoked_key_stays_revoked"),
    ("moves the last use to an earlier time", Fault::TouchesBackwards, "newest_use_is_kept"),
    ("fails on a use of a key that does not exist", Fault::TouchNeedsTheKey, "newest_use_is_kept"),
];

pub fn faults() -> Vec<PlantedFault<dyn KeyStore>> {
    planted(ALL, |faulty| Box::new(faulty))
}

#[async_trait]
impl KeyStore for Faulty<dyn KeyStore, Fault> {
    async fn create(&self, key: ApiKeyRecord) -> Result<(), KeyStoreError> {
        match self.fault {
            Fault::LosesKeys => Ok(()),
            Fault::TakesADuplicate => self.inner.create(key).await.or(Ok(())),
            Fault::ForgetsTheScope => self.inner.create(ApiKeyRecord { repositories: None, ..key }).await,
            _ => self.inner.create(key).await,
        }
    }

    async fn find(&self, hash: &Digest) -> Result<Option<ApiKeyRecord>, KeyStoreError> {
        let found = self.inner.find(hash).await?;
        Ok(found.map(|key| match self.fault {
            Fault::ProlongsARevokedKey => {
                ApiKeyRecord { revoked_at_ms: key.revoked_at_ms.map(|at_ms| at_ms.max(3_000)), ..key }
            }
            Fault::TouchesBackwards => {
                ApiKeyRecord { last_used_at_ms: key.last_used_at_ms.map(|at_ms| at_ms.min(4_000)), ..key }
            }
            _ => key,
        }))
    }

    async fn list(&self, tenant: Option<&Tenant>) -> Result<Vec<ApiKeyRecord>, KeyStoreError> {
        let tenant = tenant.filter(|_| self.fault != Fault::ListsAllTenants);
        let mut keys = self.inner.list(tenant).await?;
        keys.retain(|key| self.fault != Fault::HidesRevokedKeys || key.revoked_at_ms.is_none());
        Ok(keys)
    }

    async fn revoke(&self, id: &str, at_ms: i64) -> Result<(), KeyStoreError> {
        if self.fault == Fault::RevokesNothing { Ok(()) } else { self.inner.revoke(id, at_ms).await }
    }

    async fn touch(&self, id: &str, now_ms: i64) -> Result<(), KeyStoreError> {
        let is_known = self.inner.list(None).await?.iter().any(|key| key.id == id);
        if self.fault == Fault::TouchNeedsTheKey && !is_known {
            return self.inner.revoke(id, now_ms).await;
        }
        self.inner.touch(id, now_ms).await
    }
}
