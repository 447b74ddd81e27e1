import Testing
import XCTest
@testable import Library

final class CatalogueTests: XCTestCase {
    private var catalogue: Catalogue<Book>!
    var store = MemoryStore()

    override func setUp() async throws {
        try await super.setUp()
        catalogue = Catalogue(store: store)
    }

    func testAddCounts() throws {
        let book = Book(title: "Emma")
        XCTAssertEqual(catalogue.add(book), 1)
        XCTAssertTrue(store.contains(book))
        assertEmpty(catalogue)
    }

    private func assertEmpty(_ catalogue: Catalogue<Book>, file: StaticString = #file) {
        XCTAssertTrue(catalogue.isEmpty, file: file)
    }
}

@Suite("Shelves")
struct ShelfTests {
    let shelves = Shelf.allCases

    @Test(arguments: Shelf.allCases)
    func hasCode(_ shelf: Shelf) async throws {
        #expect(shelf.rawValue.count == 1)
        let helper = makeHelper()
        try #require(helper.find(shelf))
    }

    func makeHelper() -> ShelfHelper { ShelfHelper() }
}

func testFixture() -> Book {
    Book(title: "Fixture")
}
