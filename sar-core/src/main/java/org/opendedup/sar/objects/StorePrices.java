package org.opendedup.sar.objects;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a store charges, in one currency. A GB is 10^9 bytes, a month 30 days.
 *
 * @param gbMonth for a GB that is stored for a month
 * @param thousandPuts for 1000 requests that put or list
 * @param thousandReads for 1000 requests that read a range
 * @param egressGb for a GB that is read, where the volume is mounted
 * @param minimumDays days for which an object is charged at least, also if it is deleted before
 */
public record StorePrices(double gbMonth, double thousandPuts, double thousandReads, double egressGb, int minimumDays) {
    /** A store of one's own: nothing is charged. */
    public static final StorePrices NONE = new StorePrices(0, 0, 0, 0, 0);

    /** List prices of AWS in dollars, in the region us-east-1, for a machine in that region, of November 2026. */
    private static final Map<String, StorePrices> NAMED = new TreeMap<>(Map.of(
            "none",
            NONE,
            "s3-standard",
            new StorePrices(0.023, 0.005, 0.0004, 0, 0),
            "s3-standard-ia",
            new StorePrices(0.0125, 0.01, 0.001, 0.01, 30)));

    public StorePrices {
        if (!(gbMonth >= 0 && thousandPuts >= 0 && thousandReads >= 0 && egressGb >= 0) || minimumDays < 0) {
            throw new IllegalArgumentException("prices and days are 0 or more");
        }
    }

    /** Returns the names of known prices. */
    public static List<String> names() {
        return List.copyOf(NAMED.keySet());
    }

    /**
     * Returns prices that have a name, or are five numbers with commas between them, in the order of the record.
     *
     * @throws IllegalArgumentException if the text is neither; the message says what is allowed
     */
    public static StorePrices parse(String text) {
        StorePrices named = NAMED.get(text);
        if (named != null) {
            return named;
        }
        String[] numbers = text.split(",", -1);
        try {
            if (numbers.length == 5) {
                return new StorePrices(
                        Double.parseDouble(numbers[0]),
                        Double.parseDouble(numbers[1]),
                        Double.parseDouble(numbers[2]),
                        Double.parseDouble(numbers[3]),
                        Integer.parseInt(numbers[4]));
            }
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(refusal(text), e);
        }
        throw new IllegalArgumentException(refusal(text));
    }

    private static String refusal(String text) {
        return "'" + text + "' is not one of " + String.join(", ", NAMED.keySet())
                + ", and not five numbers: a GB stored"
                + " for a month, 1000 puts, 1000 reads, a GB read, least days of storage";
    }

    /** Returns the text that is parsed. */
    @Override
    public String toString() {
        return NAMED.entrySet().stream()
                .filter(named -> named.getValue().equals(this))
                .map(Map.Entry::getKey)
                .findFirst()
                .orElseGet(
                        () -> gbMonth + "," + thousandPuts + "," + thousandReads + "," + egressGb + "," + minimumDays);
    }
}
