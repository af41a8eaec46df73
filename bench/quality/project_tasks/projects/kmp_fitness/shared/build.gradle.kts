plugins { alias(libs.plugins.kotlinMultiplatform); alias(libs.plugins.sqldelight) }
kotlin {
    androidTarget()
    listOf(iosX64(), iosArm64(), iosSimulatorArm64()).forEach { it.binaries.framework { baseName = "Shared"; isStatic = true } }
    sourceSets {
        commonMain.dependencies { implementation(libs.ktor.client.core); implementation(libs.koin.core) }
        androidMain.dependencies { implementation(libs.ktor.client.okhttp); implementation(libs.sqldelight.android) }
        iosMain.dependencies { implementation(libs.ktor.client.darwin); implementation(libs.sqldelight.native) }
        commonTest.dependencies { implementation(kotlin("test")); implementation(libs.turbine) }
    }
}
sqldelight { databases { create("StrideDb") { packageName.set("fit.stride.db") } } }
