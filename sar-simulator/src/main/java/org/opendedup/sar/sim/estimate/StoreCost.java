package org.opendedup.sar.sim.estimate;

import org.opendedup.sar.objects.StorePrices;
import org.opendedup.sar.objects.reliable.Limits;

/**
 * What a volume in an object store costs, in the currency of the prices; a month has 30 days. The requests are those
 * that docs/SCALE.md describes: packs of 56 MiB, each put whole; a log segment of the metadata, and a tail of the pack
 * that is written, with each periodic commit; a renewal of the lease each 3 s while the volume is mounted.
 *
 * @param storedBytes bytes of containers
 * @param changedBytes bytes of containers that are replaced each day
 * @param upload puts of all data, once
 * @param monthStored a month of the stored bytes
 * @param monthDeletedEarly at most for a month of what is replaced before the least days of its storage are over
 * @param monthData puts of what is replaced in a month
 * @param monthSyncs at most for the puts of a month that make changes durable: for a volume that is written to all day
 * @param monthLease renewals of the lease in a month, if the volume is always mounted
 * @param restore requests and bytes of reading all of it once
 */
record StoreCost(
        long storedBytes,
        long changedBytes,
        double upload,
        double monthStored,
        double monthDeletedEarly,
        double monthData,
        double monthSyncs,
        double monthLease,
        double restore) {
    private static final double GB = 1e9;
    private static final double THOUSAND = 1e3;
    private static final int MONTH_DAYS = 30;
    private static final double MONTH_SECONDS = MONTH_DAYS * 86_400.0;

    private static final double PACK_BYTES = 56 << 20;
    private static final double COMMIT_SECONDS = 5;
    private static final double PUTS_OF_A_COMMIT = 2;
    private static final double LEASE_SECONDS = 3;

    /** @param dailyChange share of the stored bytes that is replaced each day, 0 to 1 */
    static StoreCost of(double storedBytes, double dailyChange, StorePrices prices) {
        double changed = storedBytes * dailyChange;
        double put = prices.thousandPuts() / THOUSAND;
        double putsOfData = put / PACK_BYTES;
        double reads = Math.ceil(storedBytes / Limits.DEFAULT.rangeBytes());
        return new StoreCost(
                Math.round(storedBytes),
                Math.round(changed),
                putsOfData * storedBytes,
                storedBytes / GB * prices.gbMonth(),
                changed / GB * prices.minimumDays() * prices.gbMonth(),
                putsOfData * changed * MONTH_DAYS,
                changed == 0 ? 0 : put * PUTS_OF_A_COMMIT * MONTH_SECONDS / COMMIT_SECONDS,
                put * MONTH_SECONDS / LEASE_SECONDS,
                reads * prices.thousandReads() / THOUSAND + storedBytes / GB * prices.egressGb());
    }

    /** Returns the most that a month costs. */
    double month() {
        return monthStored + monthDeletedEarly + monthData + monthSyncs + monthLease;
    }
}
