//
//  Catalogue.swift
//  Library
//

import Foundation
import struct Combine.AnyCancellable
@_exported import LibraryCore

/// What can be lent.
public protocol Lendable: AnyObject, Identifiable {
    associatedtype Borrower: Hashable = Member
    var title: String { get }
    var borrower: Borrower? { get set }
    init(title: String)
    func lend(to borrower: Borrower, until date: Date) throws -> Receipt
    static func placeholder() -> Self
}

typealias Completion = (Result<[Book], CatalogueError>) -> Void
let defaultLimit = 20
private var openCatalogues = 0, closedCatalogues: Int = 0

/// Why a catalogue refuses.
public enum CatalogueError: Error, Equatable {
    case notFound(id: UUID)
    case taken, closed
    indirect case wrapped(CatalogueError)

    var isFatal: Bool {
        switch self {
        case .closed: return true
        case .wrapped(let inner): return inner.isFatal
        default: return false
        }
    }
}

enum Shelf: String, CaseIterable {
    case fiction = "F", science = "S"

    static let fallback: Shelf = .fiction
}

/**
 A place with books.
 */
@MainActor
open class Catalogue<Item: Lendable>: NSObject, Storing where Item.Borrower == Member {
    public static let shared = Catalogue<Book>(store: MemoryStore())
    static var count = 0

    @Published public private(set) var items: [Item] = []
    weak var delegate: CatalogueDelegate?
    private let store: any Store
    fileprivate lazy var index: SearchIndex = SearchIndex(limit: defaultLimit)
    var formatter = DateFormatter(), clock: Clock = .system
    private var cancellables = Set<AnyCancellable>()

    var isEmpty: Bool { items.isEmpty }

    var name: String = "" {
        willSet { log(newValue) }
        didSet {
            let previous = oldValue
            index.rename(previous)
        }
    }

    private let makeReceipt: (Item) -> Receipt = { item in
        Receipt(title: item.title)
    }

    public init(store: any Store) {
        self.store = store
        super.init()
        Self.count += 1
        openCatalogues += 1
    }

    public convenience init?(path: String) {
        guard let store = FileStore(path: path) as? Store else { return nil }
        self.init(store: store)
    }

    deinit {
        openCatalogues -= 1
        close()
    }

    subscript(position: Int) -> Item? {
        get { items.indices.contains(position) ? items[position] : nil }
        set { replace(at: position, with: newValue!) }
    }

    /// Adds an item.
    /// - Parameter item: what to add
    /// - Returns: how many there are
    @discardableResult
    public func add(_ item: Item, notify: Bool = true) -> Int {
        items.append(item)
        index.insert(item.title)
        if notify, let delegate = delegate {
            delegate.catalogue(self, didAdd: item)
        }
        return items.count
    }

    func replace(at position: Int, with item: Item) {
        let old = items[position]
        defer { forget(old) }
        items[position] = item
    }

    private func forget(_ item: Item, log: (String) -> Void = { _ in }) {
        log(item.title)
        store.remove(item.id as! UUID)
        index.entries!.remove(item.title)
    }

    func load(from url: URL, completion: @escaping Completion) async throws -> [Item] {
        let (data, response) = try await URLSession.shared.data(from: url)
        let decoder = JSONDecoder()
        for record in try decoder.decode([Record].self, from: data) where record.isValid {
            add(Item(title: record.title), notify: false)
        }
        do {
            try validate(response)
        } catch let error as CatalogueError {
            error.report()
            throw error
        } catch {
            throw CatalogueError.wrapped(.closed)
        }
        items.sorted(by: compare).forEach { item in
            Task { [weak self] in await self?.index.refresh(item) }
        }
        fetch(url, retries: 3) { result in
            completion(result)
        } onProgress: { progress in
            print(progress)
        }
        return items
    }

    class func compare(_ first: Item, _ second: Item) -> Bool {
        first.title < second.title
    }

    func close() {}
}

func fetch(_ url: URL, retries: Int, then: @escaping Completion, onProgress: (Double) -> Void) {
    func attempt(_ number: Int) {
        if number < retries { attempt(number + 1) }
    }
    attempt(0)
    onProgress(1)
}
