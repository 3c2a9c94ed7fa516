package org.opendedup.sar.s3;

import java.io.IOException;
import java.net.URI;
import java.nio.file.AccessDeniedException;
import org.opendedup.sar.objects.ObjectStore;
import org.opendedup.sar.objects.ObjectStoreProvider;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;

/**
 * Opens stores for {@code s3://…}: {@link S3Address}. Credentials come from the SDK's chain: system properties,
 * environment, {@code ~/.aws}, containers, the machine's role.
 */
public final class S3Provider implements ObjectStoreProvider {
    /** Of a gateway that has none: it takes any, but requests are signed for one. */
    private static final Region ANY_REGION = Region.US_EAST_1;

    /** More than the lanes of a store: requests of other threads come beside. A connection takes 100 KB. */
    private static final int CONNECTIONS = 64;

    @Override
    public String scheme() {
        return "s3";
    }

    @Override
    public ObjectStore open(URI address) throws IOException {
        return open(S3Address.of(address), DefaultCredentialsProvider.builder().build(), TimeLimits.DEFAULT);
    }

    static ObjectStore open(S3Address address, AwsCredentialsProvider credentials, TimeLimits limits)
            throws IOException {
        S3ClientBuilder client = S3Client.builder()
                .credentialsProvider(credentials)
                .forcePathStyle(address.forcesPathStyle())
                // The bytes of a request are those of the object: not every gateway takes signed chunks.
                .serviceConfiguration(settings -> settings.chunkedEncodingEnabled(false))
                // Each request states its checksum itself, where the store takes one.
                .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
                .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
                .httpClientBuilder(Apache5HttpClient.builder()
                        .maxConnections(CONNECTIONS)
                        .connectionTimeout(limits.connect())
                        .connectionAcquisitionTimeout(limits.whole())
                        .socketTimeout(limits.silence()))
                .overrideConfiguration(settings -> settings
                        // Who repeats a conditional put must compare tokens: ReliableObjectStore does.
                        .retryStrategy(AwsRetryStrategy.doNotRetry())
                        .apiCallTimeout(limits.whole()));
        address.endpoint().ifPresent(client::endpointOverride);
        if (address.region().isPresent()) {
            client.region(Region.of(address.region().get()));
        } else if (address.endpoint().isPresent()) {
            client.region(ANY_REGION);
        }
        try {
            return new S3ObjectStore(client.build(), address, limits);
        } catch (SdkClientException e) {
            // No region is known, for example.
            AccessDeniedException refused = new AccessDeniedException(address.toString(), null, e.getMessage());
            refused.initCause(e);
            throw refused;
        }
    }
}
