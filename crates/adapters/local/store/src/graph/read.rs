//! Reads the graph: nodes by key, neighbours, and all records of a repository in pages.

use std::rc::Rc;

use cairn_domain::{EdgeKind, EdgeRecord, NodeKey, NodeRecord, RepositoryId, Resolution, Scope, View};
use cairn_ports::{Direction, Neighbour, Page};
use rusqlite::{Connection, Row, params};
use rustc_hash::FxHashMap;

use crate::fault::Fault;
use crate::graph::edges::{StoredEdge, edges_of, record};
use crate::graph::identity::{find_node, find_owner, node_key};
use crate::graph::nodes::read_block;
use crate::graph::visibility::Visibility;

/// Minimum number of records of a page, except the last page. A page always ends with the last record of a
/// node.
const PAGE_RECORDS: usize = 8192;

/// The row of a visible version.
struct VisibleNode {
    repository: RepositoryId,
    path: Rc<str>,
    line: u32,
    name: String,
    block: i64,
    slot: usize,
}

/// Reads the graph for one query, and caches the rows that are already read.
pub(crate) struct GraphReader<'a> {
    connection: &'a Connection,
    visibility: Visibility<'a>,
    keys: FxHashMap<i64, NodeKey>,
    paths: FxHashMap<i64, Rc<str>>,
    visible: FxHashMap<i64, Option<Rc<VisibleNode>>>,
    block: Option<(i64, Vec<NodeRecord>)>,
}

impl<'a> GraphReader<'a> {
    pub(crate) fn new(connection: &'a Connection, view: &'a View, scope: &'a Scope) -> Self {
        Self {
            connection,
            visibility: Visibility::new(connection, view, scope),
            keys: FxHashMap::default(),
            paths: FxHashMap::default(),
            visible: FxHashMap::default(),
            block: None,
        }
    }

    pub(crate) fn nodes(&mut self, keys: &[NodeKey]) -> Result<Vec<NodeRecord>, Fault> {
        let mut found = Vec::with_capacity(keys.len());
        for (position, key) in keys.iter().enumerate() {
            let Some(id) = find_node(self.connection, *key)? else { continue };
            if let Some(node) = self.visible(id)? {
                found.push((position, *key, node));
            }
        }
        // The nodes are sorted by block, so that each block is decompressed only once.
        found.sort_by_key(|(_, _, node)| (node.block, node.slot));
        let mut records = Vec::with_capacity(found.len());
        for (position, key, node) in found {
            records.push((position, self.record(key, &node)?));
        }
        records.sort_by_key(|(position, _)| *position);
        Ok(records.into_iter().map(|(_, record)| record).collect())
    }

    pub(crate) fn neighbours(
        &mut self,
        node: NodeKey,
        direction: Direction,
        kinds: &[EdgeKind],
        limit: usize,
    ) -> Result<(Vec<Neighbour>, u64), Fault> {
        let Some(start) = find_node(self.connection, node)? else { return Ok((Vec::new(), 0)) };
        if self.visible(start)?.is_none() {
            return Ok((Vec::new(), 0));
        }
        let mut found = Vec::new();
        for stored in self.edges_at(start, direction)? {
            let other = if direction == Direction::Out { stored.edge.target } else { stored.source };
            if !kinds.is_empty() && !kinds.contains(&stored.edge.kind) {
                continue;
            }
            let (Some(owner), Some(end)) = (self.visible_owner(&stored)?, self.visible(other)?) else { continue };
            found.push((self.edge_record(&stored, owner)?, other, end));
        }
        found.sort_by(|(left, _, left_end), (right, _, right_end)| {
            let ends = order_key(left_end).cmp(&order_key(right_end));
            left.kind.cmp(&right.kind).then(ends).then((left.line, left.key).cmp(&(right.line, right.key)))
        });
        let total = found.len() as u64;
        found.truncate(limit);
        let mut neighbours = Vec::with_capacity(found.len());
        for (edge, other, end) in found {
            let key = self.key(other)?;
            neighbours.push(Neighbour { edge, node: self.record(key, &end)? });
        }
        Ok((neighbours, total))
    }

    /// Whether the node has a visible version.
    pub(crate) fn sees(&mut self, node: NodeKey) -> Result<bool, Fault> {
        let Some(id) = find_node(self.connection, node)? else { return Ok(false) };
        Ok(self.visible(id)?.is_some())
    }

    /// The edges that start or end at a node and are visible together with both ends.
    pub(crate) fn visible_edges(&mut self, node: NodeKey, direction: Direction) -> Result<Vec<EdgeRecord>, Fault> {
        let Some(id) = find_node(self.connection, node)? else { return Ok(Vec::new()) };
        let mut edges = Vec::new();
        for stored in self.edges_at(id, direction)? {
            edges.extend(self.visible_edge(&stored)?);
        }
        Ok(edges)
    }

    /// The stored edges that start or end at a node. The edges of sources that are not visible are not read.
    fn edges_at(&mut self, node: i64, direction: Direction) -> Result<Vec<StoredEdge>, Fault> {
        if direction == Direction::Out {
            return edges_of(self.connection, node);
        }
        let mut select = self.connection.prepare_cached("SELECT source FROM edge_in WHERE target = ?1")?;
        let sources: Vec<i64> = select.query_map([node], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let mut stored = Vec::new();
        for source in sources {
            if self.visible(source)?.is_some() {
                let edges = edges_of(self.connection, source)?;
                stored.extend(edges.into_iter().filter(|stored| stored.edge.target == node));
            }
        }
        Ok(stored)
    }

    pub(crate) fn scroll_nodes(&mut self, repository: RepositoryId, from: u64) -> Result<Page<NodeRecord>, Fault> {
        let Some(owner) = self.seen_owner(repository)? else { return Ok(Page { items: Vec::new(), next: None }) };
        let mut select = self.connection.prepare_cached(
            "SELECT DISTINCT node FROM node_version WHERE owner = ?1 AND node >= ?2 ORDER BY node LIMIT ?3",
        )?;
        let rows = select.query_map(params![owner, from, PAGE_RECORDS], |row| row.get(0))?;
        let ids: Vec<i64> = rows.collect::<Result<_, _>>()?;
        let mut items = Vec::with_capacity(ids.len());
        for id in &ids {
            if let Some(node) = self.visible(*id)? {
                let key = self.key(*id)?;
                items.push(self.record(key, &node)?);
            }
        }
        let next = if ids.len() == PAGE_RECORDS { ids.last().map(|id| *id as u64 + 1) } else { None };
        Ok(Page { items, next })
    }

    pub(crate) fn scroll_edges(
        &mut self,
        repository: RepositoryId,
        resolution: Option<Resolution>,
        from: u64,
    ) -> Result<Page<EdgeRecord>, Fault> {
        let mut items = Vec::new();
        let Some(owner) = self.seen_owner(repository)? else { return Ok(Page { items, next: None }) };
        let mut select = self.connection.prepare_cached(
            "SELECT DISTINCT source FROM edge_list WHERE owner = ?1 AND source >= ?2 ORDER BY source",
        )?;
        let mut rows = select.query(params![owner, from])?;
        while let Some(row) = rows.next()? {
            let source: i64 = row.get(0)?;
            if items.len() >= PAGE_RECORDS {
                return Ok(Page { items, next: Some(source as u64) });
            }
            for stored in edges_of(self.connection, source)? {
                if stored.owner == owner && resolution.is_none_or(|wanted| wanted == stored.edge.resolution) {
                    items.extend(self.visible_edge(&stored)?);
                }
            }
        }
        Ok(Page { items, next: None })
    }

    fn visible_edge(&mut self, stored: &StoredEdge) -> Result<Option<EdgeRecord>, Fault> {
        let Some(owner) = self.visible_owner(stored)? else { return Ok(None) };
        if self.visible(stored.source)?.is_none() || self.visible(stored.edge.target)?.is_none() {
            return Ok(None);
        }
        self.edge_record(stored, owner).map(Some)
    }

    /// The owner of the edge, if the owner and the edge are visible. The source and the target of the edge
    /// are checked separately.
    fn visible_owner(&mut self, stored: &StoredEdge) -> Result<Option<RepositoryId>, Fault> {
        if !self.visibility.sees(stored.gen_from, stored.gen_to) {
            return Ok(None);
        }
        self.visibility.repository(stored.owner)
    }

    fn edge_record(&mut self, stored: &StoredEdge, owner: RepositoryId) -> Result<EdgeRecord, Fault> {
        let (source, target) = (self.key(stored.source)?, self.key(stored.edge.target)?);
        Ok(record(stored, owner, source, target))
    }

    fn seen_owner(&mut self, repository: RepositoryId) -> Result<Option<i64>, Fault> {
        let Some(owner) = find_owner(self.connection, repository)? else { return Ok(None) };
        Ok(self.visibility.repository(owner)?.map(|_| owner))
    }

    /// The version of the node that is visible for the query.
    fn visible(&mut self, id: i64) -> Result<Option<Rc<VisibleNode>>, Fault> {
        if let Some(known) = self.visible.get(&id) {
            return Ok(known.clone());
        }
        let mut select = self.connection.prepare_cached(
            "SELECT gen_from, gen_to, owner, path, line, name, block, slot FROM node_version WHERE node = ?1",
        )?;
        let mut rows = select.query([id])?;
        let mut found = None;
        while let Some(row) = rows.next()? {
            if self.visibility.sees(row.get(0)?, row.get(1)?)
                && let Some(repository) = self.visibility.repository(row.get(2)?)?
            {
                found = Some(Rc::new(self.visible_from(repository, row)?));
            }
        }
        self.visible.insert(id, found.clone());
        Ok(found)
    }

    fn visible_from(&mut self, repository: RepositoryId, row: &Row<'_>) -> Result<VisibleNode, Fault> {
        let path = match row.get(3)? {
            Some(path) => self.path(path)?,
            None => Rc::from(""),
        };
        let (line, name, block, slot) = (row.get(4)?, row.get(5)?, row.get(6)?, row.get(7)?);
        Ok(VisibleNode { repository, path, line, name, block, slot })
    }

    fn path(&mut self, id: i64) -> Result<Rc<str>, Fault> {
        if let Some(path) = self.paths.get(&id) {
            return Ok(Rc::clone(path));
        }
        let mut select = self.connection.prepare_cached("SELECT path FROM path WHERE id = ?1")?;
        let path: Rc<str> = Rc::from(select.query_row([id], |row| row.get::<_, String>(0))?);
        self.paths.insert(id, Rc::clone(&path));
        Ok(path)
    }

    fn key(&mut self, id: i64) -> Result<NodeKey, Fault> {
        if let Some(key) = self.keys.get(&id) {
            return Ok(*key);
        }
        let key = node_key(self.connection, id)?;
        self.keys.insert(id, key);
        Ok(key)
    }

    fn record(&mut self, key: NodeKey, node: &VisibleNode) -> Result<NodeRecord, Fault> {
        let records = match &mut self.block {
            Some((block, records)) if *block == node.block => records,
            cached => &mut cached.insert((node.block, read_block(self.connection, node.block)?)).1,
        };
        let slot = records.get(node.slot);
        let mut record = slot.cloned().ok_or_else(|| Fault::damaged(format!("node {key} has no slot")))?;
        record.key = key;
        record.repository = node.repository;
        Ok(record)
    }
}

fn order_key(node: &VisibleNode) -> (&str, u32, &str) {
    (&node.path, node.line, &node.name)
}
