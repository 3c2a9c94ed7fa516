package org.opendedup.sar.volume.config;

import org.opendedup.sar.metadata.remote.Promise;
import org.opendedup.sar.objects.StorePrices;

/**
 * How a volume lies in an object store. Its data location is then the local folder through which the packs go.
 *
 * @param store address of the store, as {@link org.opendedup.sar.objects.ObjectStores} opens it
 * @param promise when a commit returns
 * @param cacheBytes most bytes in the data location of packs that the store has, too
 * @param prices by which a collection decides what is worth writing anew
 */
public record RemoteSettings(String store, Promise promise, long cacheBytes, StorePrices prices) {
    /** Of a store that charges nothing. */
    public RemoteSettings(String store, Promise promise, long cacheBytes) {
        this(store, promise, cacheBytes, StorePrices.NONE);
    }
}
