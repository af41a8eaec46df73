// swift-tools-version:5.9
import PackageDescription

let package = Package(
    name: "WalletKit",
    platforms: [.iOS(.v15)],
    products: [.library(name: "WalletKit", targets: ["WalletKit"])],
    dependencies: [
        .package(url: "https://github.com/SnapKit/SnapKit.git", from: "5.7.0"),
        .package(url: "https://github.com/kishikawakatsumi/KeychainAccess.git", from: "4.2.2"),
        .package(url: "https://github.com/pointfreeco/swift-snapshot-testing", from: "1.15.0"),
    ],
    targets: [
        .target(name: "WalletKit", dependencies: ["SnapKit", "KeychainAccess"]),
        .testTarget(name: "WalletKitTests", dependencies: ["WalletKit", .product(name: "SnapshotTesting", package: "swift-snapshot-testing")]),
    ]
)
