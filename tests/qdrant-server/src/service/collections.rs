//! The requests about collections, their settings and aliases.

use ::qdrant_client::qdrant::collections_server::Collections;
use ::qdrant_client::qdrant::vectors_config::Config;
use ::qdrant_client::qdrant::*;
use tonic::{Request, Response, Status};

use super::Service;
use crate::collection::Collection;
use crate::convert::{config, unimplemented, wrong};

fn done((result, time): (bool, f64)) -> Response<CollectionOperationResponse> {
    Response::new(CollectionOperationResponse { result, time })
}

fn aliases(aliases: impl Iterator<Item = (String, String)>, time: f64) -> Response<ListAliasesResponse> {
    let aliases = aliases.map(|(alias_name, collection_name)| AliasDescription { alias_name, collection_name });
    Response::new(ListAliasesResponse { aliases: aliases.collect(), time })
}

#[expect(deprecated, reason = "clients of 1.19 still read `on_disk_payload`")]
fn info(collection: &Collection) -> Result<CollectionInfo, Status> {
    let (settings, shard) = (collection.settings(), collection.shard().info());
    let status = if collection.is_settled() { CollectionStatus::Green } else { CollectionStatus::Yellow };
    let params = CollectionParams {
        shard_number: 1,
        on_disk_payload: settings.on_disk_payload.unwrap_or(true),
        vectors_config: settings.vectors_config,
        replication_factor: Some(1),
        write_consistency_factor: Some(1),
        sparse_vectors_config: settings.sparse_vectors_config,
        ..CollectionParams::default()
    };
    let optimizers = OptimizersConfigDiff {
        deleted_threshold: Some(0.2),
        vacuum_min_vector_number: Some(1_000),
        default_segment_number: Some(0),
        indexing_threshold: Some(10_000),
        ..OptimizersConfigDiff::default()
    };
    let config = CollectionConfig {
        params: Some(params),
        hnsw_config: Some(config::with_defaults(&settings.hnsw_config.unwrap_or_default())),
        optimizer_config: Some(config::merged_optimizers(&optimizers, &settings.optimizers_config.unwrap_or_default())),
        metadata: settings.metadata,
        ..CollectionConfig::default()
    };
    Ok(CollectionInfo {
        status: status.into(),
        optimizer_status: Some(OptimizerStatus { ok: true, error: String::new() }),
        segments_count: shard.segments_count as u64,
        config: Some(config),
        payload_schema: shard
            .payload_schema
            .iter()
            .map(|(field, info)| (field.to_string(), config::index_info(info)))
            .collect(),
        points_count: Some(collection.num_points()?),
        indexed_vectors_count: Some(shard.indexed_vectors_count as u64),
        ..CollectionInfo::default()
    })
}

fn checked(settings: &CreateCollection) -> Result<(), Status> {
    let single =
        matches!(settings.vectors_config.as_ref().and_then(|config| config.config.as_ref()), Some(Config::Params(_)));
    if single && settings.sparse_vectors_config.as_ref().is_some_and(|sparse| sparse.map.contains_key("")) {
        return Err(wrong("two vectors have the same name"));
    }
    if settings.shard_number.unwrap_or(1) != 1 {
        return Err(unimplemented("several shards"));
    }
    Ok(())
}

#[tonic::async_trait]
impl Collections for Service {
    async fn get(
        &self,
        request: Request<GetCollectionInfoRequest>,
    ) -> Result<Response<GetCollectionInfoResponse>, Status> {
        let name = request.into_inner().collection_name;
        let (result, time) = self.run(move |store| info(&*store.get(&name)?)).await?;
        Ok(Response::new(GetCollectionInfoResponse { result: Some(result), time }))
    }

    async fn list(&self, _: Request<ListCollectionsRequest>) -> Result<Response<ListCollectionsResponse>, Status> {
        let (names, time) = self.run(|store| Ok(store.names())).await?;
        let collections = names.into_iter().map(|name| CollectionDescription { name }).collect();
        Ok(Response::new(ListCollectionsResponse { collections, time }))
    }

    async fn create(
        &self,
        request: Request<CreateCollection>,
    ) -> Result<Response<CollectionOperationResponse>, Status> {
        let settings = request.into_inner();
        checked(&settings)?;
        self.run(move |store| store.create(settings).map(|()| true)).await.map(done)
    }

    async fn update(
        &self,
        request: Request<UpdateCollection>,
    ) -> Result<Response<CollectionOperationResponse>, Status> {
        let update = request.into_inner();
        if update.vectors_config.is_some()
            || update.quantization_config.is_some()
            || update.sparse_vectors_config.is_some()
        {
            return Err(unimplemented("changing the settings of single vectors"));
        }
        self.run(move |store| store.get(&update.collection_name)?.update_settings(&update).map(|()| true))
            .await
            .map(done)
    }

    async fn delete(
        &self,
        request: Request<DeleteCollection>,
    ) -> Result<Response<CollectionOperationResponse>, Status> {
        let name = request.into_inner().collection_name;
        self.run(move |store| store.delete(&name)).await.map(done)
    }

    async fn update_aliases(
        &self,
        request: Request<ChangeAliases>,
    ) -> Result<Response<CollectionOperationResponse>, Status> {
        let actions = request.into_inner().actions.into_iter().filter_map(|operation| operation.action).collect();
        self.run(move |store| store.change_aliases(actions).map(|()| true)).await.map(done)
    }

    async fn list_collection_aliases(
        &self,
        request: Request<ListCollectionAliasesRequest>,
    ) -> Result<Response<ListAliasesResponse>, Status> {
        let name = request.into_inner().collection_name;
        let (all, time) = self.run(|store| Ok(store.aliases())).await?;
        Ok(aliases(all.into_iter().filter(|(_, collection)| *collection == name), time))
    }

    async fn list_aliases(&self, _: Request<ListAliasesRequest>) -> Result<Response<ListAliasesResponse>, Status> {
        let (all, time) = self.run(|store| Ok(store.aliases())).await?;
        Ok(aliases(all.into_iter(), time))
    }

    async fn collection_exists(
        &self,
        request: Request<CollectionExistsRequest>,
    ) -> Result<Response<CollectionExistsResponse>, Status> {
        let name = request.into_inner().collection_name;
        let (exists, time) = self.run(move |store| Ok(store.find(&name).is_some())).await?;
        Ok(Response::new(CollectionExistsResponse { result: Some(CollectionExists { exists }), time }))
    }

    async fn collection_cluster_info(
        &self,
        _: Request<CollectionClusterInfoRequest>,
    ) -> Result<Response<CollectionClusterInfoResponse>, Status> {
        Err(unimplemented("the method `collection_cluster_info`"))
    }

    async fn update_collection_cluster_setup(
        &self,
        _: Request<UpdateCollectionClusterSetupRequest>,
    ) -> Result<Response<UpdateCollectionClusterSetupResponse>, Status> {
        Err(unimplemented("the method `update_collection_cluster_setup`"))
    }

    async fn create_shard_key(
        &self,
        _: Request<CreateShardKeyRequest>,
    ) -> Result<Response<CreateShardKeyResponse>, Status> {
        Err(unimplemented("the method `create_shard_key`"))
    }

    async fn delete_shard_key(
        &self,
        _: Request<DeleteShardKeyRequest>,
    ) -> Result<Response<DeleteShardKeyResponse>, Status> {
        Err(unimplemented("the method `delete_shard_key`"))
    }

    async fn list_shard_keys(
        &self,
        _: Request<ListShardKeysRequest>,
    ) -> Result<Response<ListShardKeysResponse>, Status> {
        Err(unimplemented("the method `list_shard_keys`"))
    }
}
