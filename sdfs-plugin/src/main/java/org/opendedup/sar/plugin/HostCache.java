package org.opendedup.sar.plugin;

import java.util.Locale;
import org.w3c.dom.Element;

/** The size of the cache of SDFS's own chunk store, which SDFS asks any chunk store for. */
final class HostCache {
    /** SDFS's attribute for the size, and what SDFS takes if it is not there. */
    private static final String SIZE = "local-cache-size";

    private static final long DEFAULT_BYTES = 10L << 30;

    /** Units of SDFS's sizes: powers of 1024. */
    private static final String UNITS = "KMGTP";

    private HostCache() {}

    /**
     * Returns the size of SDFS's cache that the element names. It has no effect here, but SDFS writes what the store
     * answers into the file again, and could not read a size of 0 there with a store of its own.
     */
    static long bytes(Element config) {
        String size = config.getAttribute(SIZE).trim().toUpperCase(Locale.ROOT);
        int unit = size.endsWith("B") && size.length() > 2 ? UNITS.indexOf(size.charAt(size.length() - 2)) : -1;
        if (unit < 0) {
            return DEFAULT_BYTES;
        }
        try {
            String number = size.substring(0, size.length() - 2).trim().replace(',', '.');
            long bytes = (long) (Double.parseDouble(number) * (1L << 10 * (unit + 1)));
            return bytes > 0 ? bytes : DEFAULT_BYTES;
        } catch (NumberFormatException e) {
            return DEFAULT_BYTES;
        }
    }
}
