// swift-tools-version: 5.10
import PackageDescription

let package = Package(
    name: "GardenKit",
    defaultLocalization: "en",
    platforms: [.iOS(.v17)],
    products: [
        .library(name: "GardenModel", targets: ["GardenModel"]),
        .library(name: "GardenUI", targets: ["GardenUI"]),
    ],
    dependencies: [
        .package(url: "https://github.com/pointfreeco/swift-snapshot-testing", from: "1.17.0"),
        .package(url: "https://github.com/apple/swift-algorithms", from: "1.2.0"),
    ],
    targets: [
        .target(name: "GardenModel", dependencies: [.product(name: "Algorithms", package: "swift-algorithms")]),
        .target(name: "GardenUI", dependencies: ["GardenModel"]),
        .testTarget(name: "GardenModelTests", dependencies: ["GardenModel"]),
        .testTarget(name: "GardenUITests", dependencies: ["GardenUI", .product(name: "SnapshotTesting", package: "swift-snapshot-testing")]),
    ]
)
