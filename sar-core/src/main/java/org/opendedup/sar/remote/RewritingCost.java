package org.opendedup.sar.remote;

import java.time.Duration;
import org.opendedup.sar.objects.StorePrices;

/**
 * When it pays to write anew what is alive of an object, so that the object can be deleted (docs/adr/0146).
 *
 * <p>Of an object of one GB, a share x is dead. To write the rest anew reads the object once, with ranges of a
 * container each, and puts a share 1 - x in objects of the usual length. It saves the storage of x GB until the object
 * would have been deleted anyway, for which {@link #HORIZON_MONTHS} are taken. So it pays if {@code x * gbMonth *
 * HORIZON_MONTHS >= read + (1 - x) * put}, with {@code read} and {@code put} as the costs of one GB.
 */
final class RewritingCost {
    /** Time for which the saving is counted, in months: as long as backups are kept for the most part. */
    static final int HORIZON_MONTHS = 6;

    /** Least dead share without prices: no more is written than comes back. */
    static final double WITHOUT_PRICES = 0.5;

    private static final double GB = 1e9;
    /** Bytes of a read: a container. */
    private static final double READ_BYTES = 4 << 20;
    /** Bytes of a put: see {@link RemoteDirectory}. */
    private static final double PUT_BYTES = 56 << 20;

    private final StorePrices prices;

    RewritingCost(StorePrices prices) {
        this.prices = prices;
    }

    /** Returns the share of an object that must be dead at least, 0 to 1; above 1 if it never pays. */
    double leastDeadShare() {
        if (prices.gbMonth() == 0) {
            return WITHOUT_PRICES;
        }
        double read = prices.egressGb() + prices.thousandReads() / 1000 * GB / READ_BYTES;
        double put = prices.thousandPuts() / 1000 * GB / PUT_BYTES;
        return (read + put) / (prices.gbMonth() * HORIZON_MONTHS + put);
    }

    /**
     * Returns whether an object is charged after its deletion. Then it is never worth while to write it anew: to do so
     * when that time is over costs less, by what the live bytes take twice until then.
     */
    boolean isChargedLonger(Duration age) {
        return age.toDays() < prices.minimumDays();
    }

    /** Returns whether {@link #isChargedLonger} depends on the age. */
    boolean needsAge() {
        return prices.minimumDays() > 0;
    }
}
