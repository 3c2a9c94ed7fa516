package org.opendedup.sar.sdfs.jmx;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.Locale;
import java.util.Objects;
import org.opendedup.sar.common.Figure;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.metadata.remote.ShippingStatistics;
import org.opendedup.sar.objects.StorePrices;
import org.opendedup.sar.objects.reliable.ObjectStoreStatistics;
import org.opendedup.sar.remote.PackStatistics;
import org.opendedup.sar.volume.store.RemoteStatistics;

/**
 * The figures of the object store of a volume: what {@code stats} shows under {@code objectStore}, and the attributes
 * of {@code org.opendedup.sar:type=ObjectStore,volume=<volume>}. The names are stable.
 */
public record ObjectStoreFigures(
        @Figure(value = "Address of the object store", unit = "text")
        String address,

        @Figure(value = "When an fsync returns: local, or remote", unit = "name")
        String durability,

        @Figure(
                value = "Bytes that the object store does not have yet: they are lost if this machine is",
                unit = "bytes")
        long missingBytes,

        @Figure(value = "Age of the oldest of them", unit = "seconds")
        double missingSeconds,

        @Figure(value = "Why the last bytes that were to be put are not there; empty if they are", unit = "text")
        String failure,

        @Figure(
                value = "What the requests and the bytes read since the volume was mounted cost",
                unit = "currency of the prices",
                counter = true)
        double requestsCost,

        @Figure(value = "What a month of the stored bytes costs", unit = "currency of the prices")
        double monthCost,

        @Figure(
                value = "Age of the state that is read, while another machine may write; 0: this machine may",
                unit = "seconds")
        double readingSeconds,

        @JsonUnwrapped PackStatistics packs,
        @JsonUnwrapped ShippingStatistics metadata,
        @JsonUnwrapped ObjectStoreStatistics requests) {
    private static final double MILLIS = 1e3;
    private static final double GB = 1e9;

    /** @param storedBytes bytes of the containers */
    public static ObjectStoreFigures of(RemoteStatistics remote, long storedBytes) {
        StorePrices prices = remote.settings().prices();
        return new ObjectStoreFigures(
                remote.settings().store(),
                remote.settings().promise().name().toLowerCase(Locale.ROOT),
                remote.missingBytes(),
                remote.missingMs() / MILLIS,
                Printable.line(Objects.toString(remote.failure(), "")),
                remote.requests().cost(prices),
                storedBytes / GB * prices.gbMonth(),
                remote.reading() == null ? 0 : remote.reading().ageMs() / MILLIS,
                remote.packs(),
                remote.metadata(),
                remote.requests());
    }
}
