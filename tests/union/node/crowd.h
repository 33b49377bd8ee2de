static int crowd(unsigned nodes, uint64_t hours)
{
	(void)nodes, (void)hours;
	return 0;
}
