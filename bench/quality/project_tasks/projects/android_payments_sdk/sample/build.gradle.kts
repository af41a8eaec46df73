plugins {
    alias(libs.plugins.android.application)
    alias(libs.plugins.kotlin.android)
}
android {
    namespace = "com.paykit.sample"
    compileSdk = 34
    defaultConfig { applicationId = "com.paykit.sample"; minSdk = 23; targetSdk = 34 }
}
dependencies {
    implementation(project(":sdk"))
    implementation("androidx.appcompat:appcompat:1.6.1")
    implementation("com.google.android.material:material:1.11.0")
}
