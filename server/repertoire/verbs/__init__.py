"""What both doors offer: each verb once, with how it is answered, recorded, told, and given as data."""
