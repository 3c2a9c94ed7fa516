package org.opendedup.sar.objects;

import java.util.UUID;

/**
 * What is stated of an object.
 *
 * @param length its length in bytes
 * @param crc32c the CRC-32C of all its bytes, as its {@link ObjectSource} stated it
 * @param token the token of its {@link ObjectSource}: tells whether an object is that of a put of one's own
 */
public record ObjectStatus(long length, int crc32c, UUID token) {}
