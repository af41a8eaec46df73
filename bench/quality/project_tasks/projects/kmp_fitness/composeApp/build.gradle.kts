plugins {
    alias(libs.plugins.kotlinMultiplatform); alias(libs.plugins.androidApplication)
    alias(libs.plugins.composeMultiplatform); alias(libs.plugins.composeCompiler)
}
kotlin {
    androidTarget()
    iosArm64(); iosSimulatorArm64()
    sourceSets { commonMain.dependencies { implementation(compose.runtime); implementation(compose.material3); implementation(project(":shared")) } }
}
android { namespace = "fit.stride"; compileSdk = 34; defaultConfig { applicationId = "fit.stride"; minSdk = 26; versionCode = 41; versionName = "1.9.0" } }
