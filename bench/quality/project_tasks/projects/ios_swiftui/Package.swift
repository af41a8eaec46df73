// swift-tools-version: 5.10
import PackageDescription

let package = Package(
    name: "HabitKit",
    platforms: [.iOS(.v17)],
    products: [
        .library(name: "HabitKit", targets: ["HabitKit"]),
    ],
    dependencies: [
        .package(url: "https://github.com/pointfreeco/swift-composable-architecture", from: "1.10.4"),
        .package(url: "https://github.com/pointfreeco/swift-snapshot-testing", from: "1.16.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "6.27.0"),
        .package(url: "https://github.com/kean/Nuke", from: "12.6.0"),
        .package(url: "https://github.com/RevenueCat/purchases-ios", from: "4.41.2"),
        .package(url: "https://github.com/getsentry/sentry-cocoa", from: "8.26.0"),
    ],
    targets: [
        .target(
            name: "HabitKit",
            dependencies: [
                .product(name: "ComposableArchitecture", package: "swift-composable-architecture"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "NukeUI", package: "Nuke"),
                .product(name: "RevenueCat", package: "purchases-ios"),
                .product(name: "Sentry", package: "sentry-cocoa"),
            ]
        ),
        .testTarget(
            name: "HabitKitTests",
            dependencies: [
                "HabitKit",
                .product(name: "SnapshotTesting", package: "swift-snapshot-testing"),
            ]
        ),
    ]
)
