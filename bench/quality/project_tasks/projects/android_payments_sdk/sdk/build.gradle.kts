plugins {
    alias(libs.plugins.android.library)
    alias(libs.plugins.kotlin.android)
    `maven-publish`
}
android {
    namespace = "com.paykit.sdk"
    compileSdk = 34
    defaultConfig { minSdk = 21; consumerProguardFiles("consumer-rules.pro") }
    testOptions { unitTests.isIncludeAndroidResources = true }
}
dependencies {
    api("androidx.activity:activity-ktx:1.8.2")
    implementation(libs.okhttp)
    implementation(libs.moshi)
    implementation("org.jetbrains.kotlinx:kotlinx-coroutines-android:1.7.3")
    implementation("com.google.android.gms:play-services-wallet:19.3.0")
    testImplementation(libs.robolectric)
    testImplementation(libs.mockwebserver)
    testImplementation(libs.mockk)
}
