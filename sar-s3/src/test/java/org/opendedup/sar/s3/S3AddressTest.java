package org.opendedup.sar.s3;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.objects.ObjectStore;
import org.opendedup.sar.objects.ObjectStores;

/** What an address may be. */
class S3AddressTest {
    private static S3Address of(String address) {
        return S3Address.of(URI.create(address));
    }

    @Test
    void theParametersAreFound() {
        S3Address address = of("s3://my_bucket/a/b/?endpoint=https://gateway:9000&region=eu-central-1");
        URI endpoint = URI.create("https://gateway:9000");
        assertEquals(
                new S3Address("my_bucket", "a/b/", Optional.of(endpoint), Optional.of("eu-central-1"), true), address);
        assertEquals("s3://my_bucket/a/b/", address.toString());
        assertEquals(new S3Address("bucket", "", Optional.empty(), Optional.empty(), false), of("s3://bucket"));
        assertEquals(
                false,
                of("s3://bucket/?endpoint=http://h&force-path-style=false").forcesPathStyle());
        assertEquals(true, of("s3://bucket/?force-path-style=true").forcesPathStyle());
        assertEquals("a b/..c/d./", of("s3://bucket/a%20b/..c/d./").prefix());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "s3:///prefix",
                "s3://b",
                "s3://user:secret@bucket/",
                "s3://bucket/?endpoint=gateway",
                "s3://bucket/?endpoint=https://user:secret@gateway",
                "s3://bucket/?endpoint=",
                "s3://bucket/?region",
                "s3://bucket/?region=a&region=b",
                "s3://bucket/?force-path-style=yes",
                "s3://bucket/?access-key=1",
                "s3://bucket/#part",
                "s3://bucket/../other",
                "s3://bucket/a/./b",
                "s3://bucket/a//b",
                "s3://bucket/a%01b"
            })
    void othersAreRefused(String address) {
        IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, () -> of(address));
        assertTrue(
                refused.getMessage().contains("BUCKET") || refused.getMessage().contains("credentials"));
    }

    @Test
    void theProviderIsFound() throws IOException {
        try (ObjectStore store = ObjectStores.open("s3://bucket/volume?endpoint=http://127.0.0.1:9&region=any")) {
            assertEquals("s3://bucket/volume/", store.toString());
        }
    }
}
