/**
 * Object stores of S3 and of gateways that speak its protocol, by the AWS SDK for Java 2. Opened by
 * {@link org.opendedup.sar.s3.S3Provider} for the scheme {@code s3}.
 */
@NullMarked
package org.opendedup.sar.s3;

import org.jspecify.annotations.NullMarked;
